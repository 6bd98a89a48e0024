import { createInterface } from "node:readline/promises";
import { Writable } from "node:stream";
import { createMisuse } from "./cli-error.ts";
import type { Terminal } from "./terminal.ts";

const keyPattern = /^sk-slc-[0-9A-Za-z]{36}$/;

/** Reads the key from standard input without echo. Other processes could read it from the arguments. */
export async function readKey(terminal: Terminal, signal: AbortSignal): Promise<string> {
  const text = terminal.isInputTerminal ? await askHidden(terminal, signal) : await terminal.readInput();
  const key = text.trim();
  if (!keyPattern.test(key)) throw createMisuse("Not an API key: keys start with sk-slc-. Create one in the console.");
  return key;
}

async function askHidden(terminal: Terminal, signal: AbortSignal): Promise<string> {
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const lines = createInterface({ input: process.stdin, output: nowhere, terminal: true });
  const stopped = new AbortController();
  lines.once("SIGINT", () => stopped.abort());
  terminal.draw("API key (hidden): ");
  try {
    return await lines.question("", { signal: AbortSignal.any([signal, stopped.signal]) });
  } finally {
    lines.close();
    terminal.draw("\n");
  }
}
