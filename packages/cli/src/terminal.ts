import type { Readable } from "node:stream";
import type { Environment } from "./environment.ts";
import { createPaint, type Paint } from "./paint.ts";

/** Where a command speaks: its result on standard output, everything else on standard error. */
export type Terminal = {
  /** Whether a program reads the result: then standard output has JSON, and nothing else. */
  isJson: boolean;
  isInputTerminal: boolean;
  isOutputTerminal: boolean;
  isErrorTerminal: boolean;
  /** How wide standard error is. */
  columns(): number;
  paint: Paint;
  paintError: Paint;
  /** A line of the result for people. */
  print(line: string): void;
  printJson(value: unknown): void;
  /** Bytes of the result, as they are. */
  write(piece: string | Uint8Array): void;
  /** A line for people beside the result; silent where a program reads. */
  tell(line: string): void;
  /** An error, which programs are told of too. */
  complain(line: string): void;
  /** To standard error, without a new line. */
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
    if (bytes > inputBytesMax) throw new Error("Standard input has more than 8 MB, which nothing here takes.");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
}
