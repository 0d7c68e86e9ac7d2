/// The scripts for the shells. Each script asks the program itself for the word at the cursor: `stagedoor __complete SHELL WORD...` knows the
/// table, and asks the service for its present sessions, deliveries and applications.
enum CompletionScripts {
  static func script(_ shell: String) -> String {
    switch shell {
    case "bash": bash
    case "zsh": zsh
    default: fish
    }
  }

  // Readline inserts words into the command line as they are, so the script quotes all words but file names, which Readline quotes itself.
  private static let bash = #"""
    # bash completion for stagedoor, made by "stagedoor completions bash"
    _stagedoor() {
      local current=${COMP_WORDS[COMP_CWORD]} value
      local words=("${COMP_WORDS[@]:1:COMP_CWORD-1}" "${current//\\/}")
      if [[ $current == = ]]; then current=; fi
      COMPREPLY=()
      while IFS=$'\t' read -r value _; do
        case $value in
          :files) compopt -o filenames; while IFS= read -r value; do COMPREPLY+=("$value"); done < <(compgen -f -- "$current") ;;
          :programs) while IFS= read -r value; do COMPREPLY+=("$(printf %q "$value")"); done < <(compgen -c -- "$current") ;;
          *) COMPREPLY+=("$(printf %q "$value")") ;;
        esac
      done < <("${COMP_WORDS[0]}" __complete bash "${words[@]}" 2>/dev/null)
    }
    complete -F _stagedoor stagedoor

    """#

  private static let zsh = #"""
    #compdef stagedoor
    # zsh completion for stagedoor, made by "stagedoor completions zsh"
    _stagedoor() {
      local value meaning
      local -a found
      while IFS=$'\t' read -r value meaning; do
        case $value in
          :files) _files ;;
          :programs) _command_names -e ;;
          *) value=${value//\\/\\\\}; found+=("${value//:/\\:}${meaning:+:$meaning}") ;;
        esac
      done < <("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)
      if (( $#found )); then _describe -V stagedoor found; fi
    }
    if [[ $funcstack[1] == _stagedoor ]]; then _stagedoor "$@"; else compdef _stagedoor stagedoor; fi

    """#

  private static let fish = #"""
    # fish completion for stagedoor, made by "stagedoor completions fish"
    function __stagedoor_complete
      set -l before (commandline -opc)
      set -l current (commandline -ct)
      for line in ($before[1] __complete fish $before[2..-1] "$current" 2>/dev/null)
        switch $line
          case ':files'
            __fish_complete_path "$current"
          case ':programs'
            __fish_complete_command
          case '*'
            echo $line
        end
      end
    end
    complete -c stagedoor -f -a '(__stagedoor_complete)'

    """#
}
