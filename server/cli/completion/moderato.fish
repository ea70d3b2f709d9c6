# Completion of moderato for fish: moderato completion fish | source
function __moderato_complete
	set -l words (commandline -opc) (commandline -ct)
	moderato __complete -- $words[2..] 2>/dev/null
end
complete -c moderato -n 'test -n "$(__moderato_complete)"' -f -a '(__moderato_complete)'
