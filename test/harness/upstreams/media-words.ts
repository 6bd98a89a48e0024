import { canary } from "./canary.ts";
import { createDelay, endlessSilence } from "./gate.ts";
import type { MediaBehaviour } from "./media-behaviour.ts";
import { VendorRefusal } from "./vendor-refusal.ts";

type MediaWord = { word: string; means: string; read(value: string): MediaBehaviour };

/** The words that the prompt of an image, a video or a speech may contain, as `<<fault:word>>` or `<<fault:word=value>>`. */
export const mediaWords: readonly MediaWord[] = [
  word("status=429", "the submission is refused with this status", (value) => ({ status: readNumber(value) })),
  word("code=moderation_blocked", "the code of the error", (value) => ({ error: { code: value } })),
  word("retry-after=7", "429 that asks to be left alone for so many seconds", (value) => ({
    status: 429,
    headers: { "retry-after": value },
  })),
  word("burst=2", "500 for the first so many submissions of this prompt", (value) => ({ burst: readNumber(value) })),
  word("slow=500", "so many milliseconds before the answer", (value) => ({
    beforeHead: createDelay(readNumber(value)),
  })),
  word("hang", "no answer, ever", () => ({ beforeHead: endlessSilence })),
  word("reset", "the connection is reset when the submission was read", () => ({ isReset: true })),
  word("cut", "the connection ends in the middle of the answer", () => ({ cut: "inside-body" })),
  word("malformed", "what should be JSON is not", () => ({ isMalformed: true })),
  word("queue=3", "so many are before it in the queue", (value) => ({ queue: readNumber(value) })),
  word("work=3", "so many questions are answered with IN_PROGRESS", (value) => ({ work: readNumber(value) })),
  word("word=PAUSED", "a status that nobody knows", (value) => ({ work: 1, statusWord: `${canary}_${value}` })),
  word("vanish=1", "after so many questions the vendor forgot it", (value) => ({ vanishesAfter: readNumber(value) })),
  word("fail", "completed, but with an error", () => ({ result: failures.fail })),
  word("policy", "completed, but refused for its content", () => ({ result: failures.policy })),
  word("output-403", "what was made cannot be fetched", () => ({ output: "forbidden" })),
  word("output-html", "what was made is a page", () => ({ output: "wrong-type" })),
  word("output-huge", "what was made is said to have two gigabytes", () => ({ output: "huge" })),
  word("output-cut", "what was made ends in the middle", () => ({ output: "cut" })),
  word("output-private", "what was made is said to be at a private address", () => ({
    output: { redirectTo: `http://169.254.169.254/${canary}` },
  })),
];

/** Results of failed jobs, in the vendor's format. */
const failures = {
  fail: {
    status: 500,
    headers: { "x-fal-error-type": "runner_server_error", "x-fal-retryable": "true" },
    body: { detail: `${canary}: Internal Server Error` },
  },
  policy: {
    status: 422,
    body: {
      detail: [
        {
          loc: ["body", "prompt"],
          msg: `${canary} flagged the content`,
          type: "content_policy_violation",
          url: `https://docs.${canary}.example/errors#content_policy_violation`,
          input: `${canary} prompt`,
        },
      ],
    },
  },
};

const pattern = /<<fault:([a-z0-9-]+)(?:=([^>]*))?>>/g;

/** The behaviour for the words in a prompt; `null` when there are none. */
export function readMediaWords(prompt: string): MediaBehaviour | null {
  const found = [...prompt.matchAll(pattern)].map(([, name = "", value = ""]) => {
    const known = mediaWords.find(({ word }) => word.split("=")[0] === name);
    if (known === undefined) throw new VendorRefusal(`There is no fault called ${name}.`, { param: "prompt" });
    return known.read(value);
  });
  return found.length === 0 ? null : Object.assign({}, ...found);
}

function word(example: string, means: string, read: (value: string) => MediaBehaviour): MediaWord {
  return { word: example, means, read };
}

function readNumber(value: string): number {
  if (/^\d{1,6}$/.test(value)) return Number(value);
  throw new VendorRefusal(`A fault needs a whole number, not '${value}'.`, { param: "prompt" });
}
