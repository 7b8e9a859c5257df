// Contains the completion scripts for bash, zsh and fish. The scripts ask `opsctl __complete` for candidates, so a new
// command needs no new script. bash splits a word such as a MAC address at its colons, so a candidate replaces only the
// last part.
const BASH = `# opsctl completion for bash. Load it with: source <(opsctl completion bash)
_opsctl() {
  local line word last=-1 typed
  local -a words=()
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD}"; do
    if [[ $last -ge 0 && ( $word == :* || \${words[last]} == *: ) ]]; then
      words[last]+=$word
    else
      words[++last]=$word
    fi
  done
  typed=\${words[last]}
  [[ $COMP_WORDBREAKS == *:* && $typed == *:* ]] && typed=\${typed%:*}: || typed=
  COMPREPLY=()
  while IFS= read -r line; do
    line=\${line%%$'\\t'*}
    COMPREPLY+=("\${line#"$typed"}")
  done < <(opsctl __complete -- "\${words[@]}" 2>/dev/null)
}
complete -F _opsctl opsctl`;

const ZSH = `#compdef opsctl
# opsctl completion for zsh. Load it with: source <(opsctl completion zsh)
_opsctl() {
  local -a found
  local value summary
  while IFS=$'\\t' read -r value summary; do
    found+=("\${value//:/\\\\:}:\${summary}")
  done < <(opsctl __complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'opsctl' found
}
if [ "$funcstack[1]" = "_opsctl" ]; then _opsctl "$@"; else compdef _opsctl opsctl; fi`;

const FISH = `# opsctl completion for fish. Load it with: opsctl completion fish | source
function __opsctl_complete
    set -l done (commandline -opc)
    set -l current (commandline -ct)
    opsctl __complete -- $done[2..-1] "$current" 2>/dev/null
end
complete -c opsctl -f -a '(__opsctl_complete)'`;

export const COMPLETION_SCRIPTS = {
  bash: { summary: "Completion for bash: source <(opsctl completion bash)", script: BASH },
  zsh: { summary: "Completion for zsh: source <(opsctl completion zsh)", script: ZSH },
  fish: { summary: "Completion for fish: opsctl completion fish | source", script: FISH },
} as const;
