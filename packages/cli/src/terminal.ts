import type { Readable } from "node:stream";
import type { Environment } from "./environment.ts";
import { createPaint, type Paint } from "./paint.ts";

/** Results go to standard output, everything else to standard error. */
export type Terminal = {
  /** `--json`: standard output contains only JSON. */
  isJson: boolean;
  isInputTerminal: boolean;
  isOutputTerminal: boolean;
  isErrorTerminal: boolean;
  /** The width of standard error. */
  columns(): number;
  paint: Paint;
  paintError: Paint;
  /** A line of the result. */
  print(line: string): void;
  printJson(value: unknown): void;
  /** Writes the result's bytes unchanged. */
  write(piece: string | Uint8Array): void;
  /** A status line; omitted with `--json`. */
  tell(line: string): void;
  /** A line to standard error, also with `--json`. */
  complain(line: string): void;
  /** Writes to standard error without a newline. */
  draw(text: string): void;
  /** All of standard input. */
  readInput(): Promise<string>;
};

const columnsUsual = 80;
const inputBytesMax = 8 * 1024 * 1024;

export function createTerminal({ isJson, environment }: { isJson: boolean; environment: Environment }): Terminal {
  const { stdin, stdout, stderr } = process;
  const isColoured = (stream: { isTTY?: boolean }): boolean => environment.allowsColour && stream.isTTY === true;
  const tell = (line: string): void => void stderr.write(`${line}\n`);
  return {
    isJson,
    isInputTerminal: stdin.isTTY === true,
    isOutputTerminal: stdout.isTTY === true,
    isErrorTerminal: stderr.isTTY === true,
    columns: () => stderr.columns || columnsUsual,
    paint: createPaint(isColoured(stdout) && !isJson),
    paintError: createPaint(isColoured(stderr) && !isJson),
    print: (line) => void stdout.write(`${line}\n`),
    printJson: (value) => void stdout.write(`${JSON.stringify(value)}\n`),
    write: (piece) => void stdout.write(piece),
    tell: (line) => {
      if (!isJson) tell(line);
    },
    complain: tell,
    draw: (text) => void stderr.write(text),
    readInput: () => readAll(stdin),
  };
}

async function readAll(stream: Readable): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    bytes += chunk.length;
    if (bytes > inputBytesMax) throw new Error("Standard input is larger than the limit of 8 MB.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
