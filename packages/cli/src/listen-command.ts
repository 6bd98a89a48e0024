import { setTimeout as wait } from "node:timers/promises";
import type { ApiClient } from "./api-client.ts";
import { ApiError } from "./api-error.ts";
import { createMisuse, type ExitCode, exitCodes } from "./cli-error.ts";
import type { CommandDefinition, CommandInput } from "./command-definition.ts";
import { forwardEvent, type SignedEvent } from "./forward-event.ts";
import { openApi } from "./open-api.ts";
import { cleanText } from "./paint.ts";
import { readEvents } from "./read-server-events.ts";
import { parseUrl } from "./site-address.ts";
import type { Terminal } from "./terminal.ts";

const eventTypes = ["task.succeeded", "task.failed", "task.canceled", "task.expired"] as const;

export const listenCommand: CommandDefinition = {
  name: "webhooks listen",
  summary: "Forward your account's events to a program on this machine.",
  details: `Headers and body are those of a real delivery, and so is the signature; the secret to check it with is shown at the
start and stays the same for a key. While it runs it counts as a webhook, so that dramas can be made. What happens while the
connection is broken comes afterwards.`,
  options: {
    "forward-to": { placeholder: "url", explains: "The URL to forward to. Default: only print them." },
    event: { placeholder: "type", isList: true, choices: eventTypes, explains: "Only events of this type." },
    "print-secret": { explains: "Print the signing secret and exit." },
  },
  examples: [
    { line: "sluice webhooks listen --forward-to http://localhost:3000/hook", does: "to your own server" },
    { line: "export WEBHOOK_SECRET=$(sluice webhooks listen --print-secret)", does: "the secret for it" },
  ],
  run: listen,
};

type Session = { id: string; secret: string };

const pauseMsMin = 1000;
const pauseMsMax = 30_000;
/** Remembered event ids: some arrive twice after a reconnect. */
const rememberedMax = 10_000;

async function listen(input: CommandInput): Promise<ExitCode> {
  const { options, terminal, interruption } = input;
  const forwardTo = options.text("forward-to") ?? null;
  if (forwardTo !== null && parseUrl(forwardTo) === null) {
    throw createMisuse(`--forward-to takes an address such as http://localhost:3000/hook, not "${forwardTo}".`);
  }
  const { api } = await openApi(input);
  let session = await api.ask<Session>({ method: "POST", path: "/webhook_sessions", signal: interruption.signal });
  try {
    if (options.has("print-secret")) {
      terminal.print(terminal.isJson ? JSON.stringify({ secret: session.secret }) : session.secret);
      return exitCodes.done;
    }
    tellStart(session, forwardTo, terminal);
    const wanted = options.list("event");
    const hear = createHearer({ forwardTo, wanted, terminal, signal: interruption.signal });
    await listenOn(input, api, {
      getSession: () => session,
      hear,
      async renew() {
        session = await api.ask<Session>({ method: "POST", path: "/webhook_sessions", signal: interruption.signal });
      },
    });
    return exitCodes.interrupted;
  } finally {
    // It would end by itself a minute later.
    await api.ask({ method: "DELETE", path: `/webhook_sessions/${session.id}` }).catch(() => {});
  }
}

function tellStart({ id, secret }: Session, forwardTo: string | null, terminal: Terminal): void {
  const { paintError } = terminal;
  if (terminal.isJson) terminal.printJson({ type: "listening", session: id, forward_to: forwardTo });
  terminal.tell(`Listening${forwardTo === null ? "" : `, and sending on to ${forwardTo}`}. Ctrl-C ends.`);
  // A secret does not belong into a log.
  if (terminal.isErrorTerminal) terminal.tell(`The signing secret is ${paintError.bold(cleanText(secret))}`);
  else terminal.tell("--print-secret prints the signing secret.");
}

type Listening = {
  getSession(): Session;
  /** The session is gone: another one, with the same secret. */
  renew(): Promise<void>;
  hear(name: string, event: SignedEvent): Promise<void>;
};

/** Runs until Ctrl-C; reconnects and resumes after the last event. */
async function listenOn({ terminal, interruption }: CommandInput, api: ApiClient, listening: Listening): Promise<void> {
  const { signal } = interruption;
  let lastEventId: string | null = null;
  let pauseMs = pauseMsMin;
  while (!signal.aborted) {
    try {
      const headers = lastEventId === null ? {} : { "last-event-id": lastEventId };
      const path = `/webhook_sessions/${listening.getSession().id}/events`;
      const response = await api.open({ method: "GET", path, headers, signal });
      pauseMs = pauseMsMin;
      for await (const { name, id, data } of readEvents(response.body)) {
        // The reason for which the stream ends, which connecting again tells as an answer.
        if (name === "message") break;
        await listening.hear(name, JSON.parse(data) as SignedEvent);
        lastEventId = id;
      }
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.code === "not_found") await listening.renew();
      else if (error instanceof ApiError && error.status < 500 && error.status !== 429) throw error;
      else terminal.tell(`${cleanText(error instanceof Error ? error.message : String(error))} Connecting again …`);
    }
    await wait(pauseMs, undefined, { signal }).catch(() => {});
    pauseMs = Math.min(pauseMsMax, pauseMs * 2);
  }
}

function createHearer(options: {
  forwardTo: string | null;
  wanted: readonly string[];
  terminal: Terminal;
  signal: AbortSignal;
}): Listening["hear"] {
  const { forwardTo, wanted, terminal, signal } = options;
  const heard = new Set<string>();
  return async (name, event) => {
    const id = event.headers["webhook-id"] ?? "";
    if (heard.has(id) || (wanted.length > 0 && !wanted.includes(name))) return;
    heard.add(id);
    for (const oldest of heard) {
      if (heard.size <= rememberedMax) break;
      heard.delete(oldest);
    }
    const outcome = forwardTo === null ? null : await forwardEvent(forwardTo, event, signal);
    if (terminal.isJson) terminal.printJson({ type: name, id, body: JSON.parse(event.body), outcome });
    else terminal.print(cleanText(`${name}  ${id}${outcome === null ? "" : `  → ${outcome.status ?? outcome.error}`}`));
  };
}
