/** Colours are SVG's `#rrggbb`. They are mixed in OKLab, which is perceptually uniform. */
type Lab = readonly [lightness: number, greenRed: number, blueYellow: number];

export function mixColours(from: string, to: string, share: number): string {
  const start = toLab(from);
  const end = toLab(to);
  const at = Math.min(1, Math.max(0, share));
  return fromLab([mix(start[0], end[0], at), mix(start[1], end[1], at), mix(start[2], end[2], at)]);
}

/** Turns the hue by degrees and changes the lightness by a share of the whole. */
export function shiftColour(colour: string, degrees: number, lighter = 0): string {
  const [lightness, greenRed, blueYellow] = toLab(colour);
  const angle = (degrees * Math.PI) / 180;
  return fromLab([
    Math.min(1, Math.max(0, lightness + lighter)),
    greenRed * Math.cos(angle) - blueYellow * Math.sin(angle),
    greenRed * Math.sin(angle) + blueYellow * Math.cos(angle),
  ]);
}

/** Scales how colourful it is: 0 is grey. */
export function saturateColour(colour: string, factor: number): string {
  const [lightness, greenRed, blueYellow] = toLab(colour);
  return fromLab([lightness, greenRed * factor, blueYellow * factor]);
}

export function parseColour(colour: string): [red: number, green: number, blue: number] {
  const value = Number.parseInt(colour.slice(1), 16);
  return [(value >> 16) & 255, (value >> 8) & 255, value & 255];
}

function mix(from: number, to: number, share: number): number {
  return from + (to - from) * share;
}

function toLab(colour: string): Lab {
  const [red, green, blue] = parseColour(colour).map(toLinear) as [number, number, number];
  const long = Math.cbrt(0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue);
  const medium = Math.cbrt(0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue);
  const short = Math.cbrt(0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue);
  return [
    0.2104542553 * long + 0.793617785 * medium - 0.0040720468 * short,
    1.9779984951 * long - 2.428592205 * medium + 0.4505937099 * short,
    0.0259040371 * long + 0.7827717662 * medium - 0.808675766 * short,
  ];
}

function fromLab([lightness, greenRed, blueYellow]: Lab): string {
  const long = (lightness + 0.3963377774 * greenRed + 0.2158037573 * blueYellow) ** 3;
  const medium = (lightness - 0.1055613458 * greenRed - 0.0638541728 * blueYellow) ** 3;
  const short = (lightness - 0.0894841775 * greenRed - 1.291485548 * blueYellow) ** 3;
  const channels = [
    4.0767416621 * long - 3.3077115913 * medium + 0.2309699292 * short,
    -1.2684380046 * long + 2.6097574011 * medium - 0.3413193965 * short,
    -0.0041960863 * long - 0.7034186147 * medium + 1.707614701 * short,
  ];
  return `#${channels.map((channel) => toByte(channel).toString(16).padStart(2, "0")).join("")}`;
}

function toLinear(byte: number): number {
  const value = byte / 255;
  return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
}

function toByte(linear: number): number {
  const value = Math.min(1, Math.max(0, linear));
  return Math.round(255 * (value <= 0.0031308 ? value * 12.92 : 1.055 * value ** (1 / 2.4) - 0.055));
}
