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
  details: `Headers, body and signature match a real delivery. The command shows the signing secret at the start; it stays the
same for a key. While it runs, it counts as a webhook endpoint, so you can create dramas. After a lost connection, it
reconnects and forwards the missed events.`,
  options: {
    "forward-to": { placeholder: "url", explains: "The URL to forward to. Default: only print the events." },
    event: { placeholder: "type", isList: true, choices: eventTypes, explains: "Only events of this type." },
    "print-secret": { explains: "Print the signing secret and exit." },
  },
  examples: [
    { line: "sluice webhooks listen --forward-to http://localhost:3000/hook", does: "forward to your own server" },
    { line: "export WEBHOOK_SECRET=$(sluice webhooks listen --print-secret)", does: "get the signing secret" },
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
    throw createMisuse(`--forward-to takes a URL such as http://localhost:3000/hook, not "${forwardTo}".`);
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
    // Otherwise the session expires after a minute.
    await api.ask({ method: "DELETE", path: `/webhook_sessions/${session.id}` }).catch(() => {});
  }
}

function tellStart({ id, secret }: Session, forwardTo: string | null, terminal: Terminal): void {
  const { paintError } = terminal;
  if (terminal.isJson) terminal.printJson({ type: "listening", session: id, forward_to: forwardTo });
  terminal.tell(`Listening${forwardTo === null ? "" : ` and forwarding to ${forwardTo}`}. Press Ctrl-C to stop.`);
  // Keep the secret out of logs.
  if (terminal.isErrorTerminal) terminal.tell(`The signing secret is ${paintError.bold(cleanText(secret))}`);
  else terminal.tell("Use --print-secret to print the signing secret.");
}

type Listening = {
  getSession(): Session;
  /** Replaces an expired session; the secret stays the same. */
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
        // Announces the end of the stream; reconnecting returns the reason as an error.
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
