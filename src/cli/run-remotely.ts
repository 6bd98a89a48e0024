import { createGuardedClient, GuardedFetchError } from "../platform/net/guarded-client.ts";
import type { CommandEnvironment } from "./command.ts";
import { findCommandAccess } from "./command-access.ts";
import { findCommand } from "./commands.ts";
import type { RemoteGateway } from "./find-remote-gateway.ts";
import { parseArguments } from "./parse-arguments.ts";
import { UsageError } from "./usage-error.ts";

const answerBytesMax = 32 * 1024 * 1024;
const timeoutMs = 10 * 60_000;

type Output = { text: string; notes: string; exit_code: number };

/** Sends the command to a gateway, which runs it, and prints what it printed. Returns its exit code. */
export async function runRemotely({ url, key, words }: RemoteGateway, terminal: CommandEnvironment): Promise<number> {
  const command = await findCommand(words);
  if (command !== null) {
    // Mistakes are explained here, before anything is sent.
    parseArguments(command, words.slice(command.name.split(" ").length));
    if (findCommandAccess(command)?.place !== "anywhere") {
      throw new UsageError(`${command.name} runs only on a host of the gateway.`, "Run it there, without --url.");
    }
  }
  const { status, text } = await post(new URL("/admin/v1/commands", url), key, JSON.stringify({ words }));
  const output = parse(text);
  if (status !== 200 || output === null)
    throw new UsageError(explain(status, text), `The gateway at ${url} rejected it.`);
  if (output.text !== "") terminal.print(output.text);
  if (output.notes !== "") terminal.printNote(output.notes);
  return output.exit_code;
}

/** The operator chose the address, so it may be private. */
async function post(url: URL, key: string, body: string): Promise<{ status: number; text: string }> {
  const client = createGuardedClient({ allowsPrivate: true });
  try {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const signal = AbortSignal.timeout(timeoutMs);
    const answer = await client.post(url.href, { headers, body, bytesMax: answerBytesMax, timeoutMs, signal });
    return { status: answer.status, text: answer.bytes.toString("utf8") };
  } catch (error) {
    if (!(error instanceof GuardedFetchError)) throw error;
    throw new UsageError(`The gateway at ${url.origin} cannot be reached: ${error.message}`, "Check --url.");
  } finally {
    await client.close();
  }
}

function parse(text: string): Output | null {
  try {
    const output: unknown = JSON.parse(text);
    const isOutput = typeof output === "object" && output !== null && "exit_code" in output;
    return isOutput ? (output as Output) : null;
  } catch {
    // Not a gateway, or a proxy's page.
    return null;
  }
}

function explain(status: number, text: string): string {
  const message = /"message":\s*"((?:[^"\\]|\\.)*)"/.exec(text)?.[1];
  if (message !== undefined && status !== 404) return message.replaceAll('\\"', '"');
  return status === 404
    ? "There is no operators' API at this address, or the key is not an admin key."
    : `The answer has status ${status} and is not a gateway's.`;
}
