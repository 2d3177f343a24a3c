import { command } from '../command.ts';
import { verbatim } from '../output.ts';

/** Each script asks the program itself, so it never becomes outdated. In bash, a `:` in a word needs special care. */
const SCRIPTS = {
  bash: `_atrium() {
  local IFS=$'\\n' line words cur
  COMPREPLY=()
  if declare -F _get_comp_words_by_ref >/dev/null; then
    local cword
    _get_comp_words_by_ref -n : -w words -i cword
    words=("\${words[@]:0:$((cword + 1))}")
  else
    words=("\${COMP_WORDS[@]:0:$((COMP_CWORD + 1))}")
  fi
  cur="\${words[\${#words[@]} - 1]}"
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      compopt -o filenames 2>/dev/null || true
      COMPREPLY+=($(compgen -f -- "$cur"))
    else
      COMPREPLY+=("$(printf '%q' "\${line%%$'\\t'*}")")
    fi
  done < <("\${words[0]}" __complete "\${words[@]:1}" 2>/dev/null)
  if [[ \${#COMPREPLY[@]} -eq 1 && \${COMPREPLY[0]} == *: ]]; then compopt -o nospace 2>/dev/null || true; fi
  if declare -F __ltrim_colon_completions >/dev/null; then __ltrim_colon_completions "$cur"; fi
}
complete -F _atrium atrium`,
  zsh: `#compdef atrium
_atrium() {
  local line word about
  local -a found
  while IFS= read -r line; do
    if [[ $line == :files* ]]; then
      _files
      return
    fi
    word=\${line%%$'\\t'*}
    about=\${line#*$'\\t'}
    found+=("\${word//:/\\\\:}:$about")
  done < <("\${words[1]}" __complete "\${(@)words[2,CURRENT]}" 2>/dev/null)
  _describe 'atrium' found
}
if [[ $funcstack[1] == _atrium ]]; then _atrium "$@"; else compdef _atrium atrium; fi`,
  fish: `function __atrium_complete
  set -l words (commandline -opc) (commandline -ct)
  for line in ($words[1] __complete $words[2..-1] 2>/dev/null)
    if string match -q ':files*' -- $line
      __fish_complete_path (commandline -ct)
    else
      echo $line
    end
  end
end
complete -c atrium -f -a '(__atrium_complete)'`,
} as const;

const WHERE = {
  bash: 'add to ~/.bashrc:  source <(atrium completion bash)',
  zsh: 'add to ~/.zshrc, below compinit:  source <(atrium completion zsh)',
  fish: 'run once:  atrium completion fish > ~/.config/fish/completions/atrium.fish',
} as const;

export const completion = command({
  summary: 'print the completion script for bash, zsh or fish',
  details: `For bash, ${WHERE.bash}; for zsh, ${WHERE.zsh}; for fish, ${WHERE.fish}`,
  args: { shell: { about: 'the shell', choices: ['bash', 'zsh', 'fish'] } },
  examples: ['source <(atrium completion bash)', 'atrium completion fish > ~/.config/fish/completions/atrium.fish'],
  run: async (_session, { args }) => verbatim(SCRIPTS[args.shell]),
});
