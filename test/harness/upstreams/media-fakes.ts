import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { waitUntil } from "../wait-until.ts";
import { createFalFake, type FalJob, falPath } from "./fal-fake.ts";
import { createMadeFiles } from "./made-files.ts";
import type { MediaBehaviour } from "./media-behaviour.ts";
import type { MediaCall, MediaSubmission, Sender } from "./media-call.ts";
import { readMediaWords } from "./media-words.ts";
import { createOpenAiMediaFake } from "./openai-media-fake.ts";

/** Vendors of images, videos and speech, which record all requests. */
export type MediaFakes = {
  /** Every request that arrived completely, in order: submissions, polls, cancels and downloads. */
  calls: readonly MediaCall[];
  submissions: readonly MediaSubmission[];
  /** All submissions with this prompt, accepted or not. */
  submissionsOf(prompt: string): readonly MediaSubmission[];
  /** The jobs in fal's queue. */
  jobs: readonly FalJob[];
  /** The next submissions get these, in this order. */
  script(...behaviours: readonly MediaBehaviour[]): void;
  /** The default when nothing is scripted and the prompt has no fault words. */
  always(behaviour: MediaBehaviour): void;
  /** The same for matching submissions; the latest one counts. */
  alwaysFor(isMeant: (submission: MediaSubmission) => boolean, behaviour: MediaBehaviour): void;
  scriptsLeft(): number;
  /** Why submissions were refused as invalid; empty when all translations were correct. */
  refusals(): string[];
  /** Resolves when this many requests have arrived. */
  received(count: number): Promise<readonly MediaCall[]>;
  /** Resolves when the client has ended this many requests early. */
  aborted(count: number): Promise<readonly MediaCall[]>;
};

/** What the fakes' server needs of them. */
type MediaServing = {
  falPath: string;
  takes(url: string): boolean;
  answer(incoming: IncomingMessage, response: ServerResponse): Promise<void>;
  close(): void;
};

export function createMediaFakes({ getOrigin }: { getOrigin(): string }): { fakes: MediaFakes; serving: MediaServing } {
  const calls: MediaCall[] = [];
  const submissions: MediaSubmission[] = [];
  const scripted: MediaBehaviour[] = [];
  const standing: { isMeant(submission: MediaSubmission): boolean; behaviour: MediaBehaviour }[] = [];
  const closing = new AbortController();
  const files = createMadeFiles({ getOrigin });
  const fal = createFalFake({ files, getOrigin, closing: closing.signal, take });
  const openAi = createOpenAiMediaFake({ files, take });
  const listAborted = () => calls.filter(({ outcome }) => outcome === "aborted");

  function take(submission: MediaSubmission): MediaBehaviour {
    const askedBefore = submissions.filter(({ prompt }) => prompt === submission.prompt).length;
    submissions.push(submission);
    const meant = standing.find(({ isMeant }) => isMeant(submission))?.behaviour ?? {};
    const found = scripted.shift() ?? readMediaWords(submission.prompt) ?? meant;
    return askedBefore < (found.burst ?? 0) ? { ...found, status: 500 } : found;
  }

  async function receive(incoming: IncomingMessage, response: ServerResponse): Promise<Sender | null> {
    const { method = "", url = "", headers } = incoming;
    // Tests cut requests on purpose; the sender sees it too.
    const body = await buffer(incoming).catch(() => null);
    if (body === null) return null;
    const call: MediaCall = { number: calls.length + 1, method, path: url, headers, body, outcome: "open" };
    calls.push(call);
    const gone = new AbortController();
    response.once("close", () => {
      if (call.outcome === "open") call.outcome = response.writableFinished ? "finished" : "aborted";
      gone.abort();
    });
    return { call, response, signal: AbortSignal.any([gone.signal, closing.signal]) };
  }

  return {
    fakes: {
      calls,
      submissions,
      submissionsOf: (prompt) => submissions.filter((submission) => submission.prompt === prompt),
      jobs: fal.jobs,
      script: (...behaviours) => void scripted.push(...behaviours),
      always: (behaviour) => void standing.unshift({ isMeant: () => true, behaviour }),
      alwaysFor: (isMeant, behaviour) => void standing.unshift({ isMeant, behaviour }),
      scriptsLeft: () => scripted.length,
      refusals: () => submissions.flatMap(({ refusal }) => refusal ?? []),
      received: (count) => waitUntil(`${count} requests at the media upstream`, () => calls.length >= count && calls),
      aborted: (count) =>
        waitUntil(
          `${count} media requests that were ended early`,
          () => listAborted().length >= count && listAborted(),
        ),
    },
    serving: {
      falPath,
      takes: (url) => [fal, openAi, files].some((part) => part.takes(getPath(url))),
      async answer(incoming, response) {
        const sender = await receive(incoming, response);
        if (sender === null) return;
        const path = getPath(sender.call.path);
        try {
          if (files.takes(path)) await files.serve(path, response, sender.signal);
          else await (fal.takes(path) ? fal : openAi).answer(sender, path);
        } catch (error) {
          // The client disconnected, which is already recorded.
          if (!sender.signal.aborted) throw error;
        }
      },
      close: () => closing.abort(),
    },
  };
}

function getPath(url: string): string {
  return url.split("?", 1)[0] ?? "";
}
