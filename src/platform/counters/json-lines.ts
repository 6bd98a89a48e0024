import type { Duplex } from "node:stream";

/** Calls back for each line that comes, as what it says. Nobody but processes of one gateway speaks here. */
export function readJsonLines(stream: Duplex, onValue: (value: unknown) => void): void {
  let rest = "";
  stream.setEncoding("utf8");
  stream.on("data", (piece: string) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) onValue(JSON.parse(line));
  });
}

export function writeJsonLine(stream: Duplex, value: unknown): void {
  if (stream.writable) stream.write(`${JSON.stringify(value)}\n`);
}
