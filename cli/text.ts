/** Characters that control a terminal or change the writing direction. They are shown as escapes. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: finding these is the purpose.
const STEERING = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const ASCII = /^[\x20-\x7e]*$/;
const WIDE =
  /^[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|^[\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]|^\p{Emoji_Presentation}/u;
const NO_WIDTH = /^[\p{Mn}\p{Me}\p{Cf}]+$/u;

/** One line that a terminal shows without interpreting any of it. */
export function plain(text: string): string {
  return text.replace(STEERING, (letter) => (letter === '\n' || letter === '\t' ? ' ' : escaped(letter)));
}

/** Text of several lines, such as a document, of which a terminal interprets only the line breaks and tabs. */
export function harmless(text: string): string {
  return text.replace(STEERING, (letter) => (letter === '\n' || letter === '\t' ? letter : escaped(letter)));
}

export function escaped(letter: string): string {
  return `\\u${letter.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** How many columns a text occupies. */
export function widthOf(text: string): number {
  if (ASCII.test(text)) return text.length;
  return graphemes(text).reduce((width, one) => width + widthOfOne(one), 0);
}

/** As much of the text as fits, with a sign that it was cut. */
export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  let taken = '';
  let used = 0;
  for (const one of graphemes(text)) {
    used += widthOfOne(one);
    if (used > width - 1) break;
    taken += one;
  }
  return `${taken}…`;
}

function graphemes(text: string): string[] {
  return Array.from(new Intl.Segmenter('en', { granularity: 'grapheme' }).segment(text), ({ segment }) => segment);
}

function widthOfOne(grapheme: string): number {
  if (NO_WIDTH.test(grapheme)) return 0;
  return WIDE.test(grapheme) || grapheme.includes('\ufe0f') ? 2 : 1;
}
