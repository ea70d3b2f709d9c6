# Completion of moderato for bash: source <(moderato completion bash)
_moderato() {
	local candidate
	COMPREPLY=()
	while IFS=$'\t' read -r candidate _; do
		COMPREPLY+=("$candidate")
	done < <(moderato __complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _moderato moderato
