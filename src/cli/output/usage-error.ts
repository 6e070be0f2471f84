/**
 * Commander's errors in the form of all other errors: `error: WHAT: WHY`, and `hint: WHAT TO DO` on the next line.
 */

const INVALID_OPTION =
  /^error: option '(?:-\w, )?(?<flag>--[\w-]+)[^']*' (?:argument|value) '(?<value>.*?)'(?: from env '(?<variable>\w+)')? is invalid\. (?<why>.*)$/s;
const INVALID_ARGUMENT =
  /^error: command-argument value '(?<value>.*?)' is invalid for argument '(?<name>[^']*)'\. (?<why>.*)$/s;
/** Errors about the command line as a whole, whose hint depends on its command. */
const USAGE =
  /^error: (?:unknown|missing required argument|required option|too many arguments|option .* (?:argument missing|cannot be used with))/;
const SUGGESTION = /\n\(Did you mean (.*)\?\)$/;
const CHOICES = /^Allowed choices are (.*)\.$/;

/** Returns the text of an error that Commander prints. `hint` is for errors about the command line as a whole. */
export function usageErrorText(text: string, hint: string): string {
  const error = text.trimEnd();
  if (!error.startsWith('error: ')) return text;
  const invalid = INVALID_OPTION.exec(error)?.groups ?? INVALID_ARGUMENT.exec(error)?.groups;
  if (invalid !== undefined) {
    const { flag, name, variable, why = '' } = invalid;
    // Other control characters are escaped when the line is printed.
    const value = invalid['value']?.replaceAll('\n', String.raw`\u000a`);
    const where = variable === undefined ? (flag ?? `argument ${name}`) : `$${variable}`;
    const [reason = '', ...hints] = why.replace(CHOICES, 'must be one of $1').split('; ');
    return withHint(`error: invalid value '${value}' for ${where}: ${reason}`, hints.join('; '));
  }
  const suggestion = SUGGESTION.exec(error)?.[1];
  if (suggestion !== undefined) {
    return withHint(error.replace(SUGGESTION, ''), `did you mean ${suggestion}?`);
  }
  return withHint(error, USAGE.test(error) && !error.includes('\nhint: ') ? hint : '');
}

function withHint(error: string, hint: string): string {
  return hint === '' ? `${error}\n` : `${error}\nhint: ${hint}\n`;
}
