import fc from "fast-check";

const surrogatesFrom = 0xd800;
const surrogateCount = 0x800;
const codePointMax = 0x10_ff_ff;

const character = fc
  .integer({ min: 0, max: codePointMax - surrogateCount })
  .map((number) => String.fromCodePoint(number < surrogatesFrom ? number : number + surrogateCount));

/** Text of any Unicode characters. The library's own unit `binary` takes over a second of every process to list them. */
export function unicodeText(lengths: { minLength?: number; maxLength?: number } = {}): fc.Arbitrary<string> {
  return fc.string({ ...lengths, unit: character });
}
