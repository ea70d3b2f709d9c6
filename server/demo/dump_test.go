package demo
import ("testing";"fmt")
func TestDump(t *testing.T){
 w:=makeWorld(); names:=map[any]string{}
 for i,p:=range w.people{names[p.ID]=p.Username; fmt.Println(i,p.ID,p.Username,"|",p.DisplayName)}
 for i:=range channels{ n:=0; fmt.Println("=====",channels[i].title); for _,m:=range w.messages{ if m.channel==w.people[i].ID{ n++; fmt.Println(m.ago.Truncate(1e9),names[m.user],":",m.text)}}; fmt.Println(n)}
 fmt.Println(len(w.messages),len(w.bans),len(Records(0)))
}
