/** Replaces the text between a section's two marks. */
export function fillSection(page: string, section: string, text: string): string {
  const [begin, end] = [`<!-- ${section}: written by \`npm run generate\` -->`, `<!-- end of ${section} -->`];
  const [before, rest] = page.split(begin);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`The page needs ${begin} and ${end}.`);
  return `${before}${begin}\n\n${text}\n${end}${after}`;
}
