/**
 * A flat drawing in a box of 100 by 100 that stands on the lower edge. Each part is a colour, a path, and the width of
 * its stroke if it is a line.
 */
export type Drawing = readonly (readonly [colour: PartColour, path: string, stroke?: number])[];

/** `body` is the subject's own colour, which a prompt can change; `shade` and `tint` are darker and lighter. */
type PartColour = "body" | "shade" | "tint" | "dark" | "pale" | "glow" | `#${string}`;

export function disc(x: number, y: number, radius: number, radiusY = radius): string {
  return `M${x - radius} ${y}a${radius} ${radiusY} 0 1 0 ${2 * radius} 0a${radius} ${radiusY} 0 1 0 ${-2 * radius} 0Z`;
}

export function box(x: number, y: number, width: number, height: number, corner = 0): string {
  const [across, down] = [width - 2 * corner, height - 2 * corner];
  const turn = (dx: number, dy: number): string => (corner === 0 ? "" : `a${corner} ${corner} 0 0 1 ${dx} ${dy}`);
  return `M${x + corner} ${y}h${across}${turn(corner, corner)}v${down}${turn(-corner, corner)}h${-across}${turn(-corner, -corner)}v${-down}${turn(corner, -corner)}Z`;
}

/** The same shape several times, for windows, wheels and legs. */
export function repeat(positions: readonly number[], draw: (position: number) => string): string {
  return positions.map(draw).join("");
}
