#compdef moderato
# Completion of moderato for zsh: source <(moderato completion zsh), after compinit.
_moderato() {
	local -a candidates
	local line
	while IFS= read -r line; do
		candidates+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
	done < <(moderato __complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)
	if (( $#candidates )); then
		_describe moderato candidates
	else
		_files
	fi
}
compdef _moderato moderato
