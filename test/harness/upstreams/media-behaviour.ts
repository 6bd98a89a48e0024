import type { Passage } from "./gate.ts";

/** How a fake upstream of media treats one piece of work, from its submission to the last byte of what it made. */
export type MediaBehaviour = {
  /** The submission is refused with this status, in the vendor's form. */
  status?: number;
  /** What the vendor says in it. A code is sent as given; the message gets the canary. */
  error?: { code?: string; message?: string; param?: string };
  /** Sent in addition to what the vendor sends. */
  headers?: Record<string, string>;
  /** Sent as it is in place of the answer. */
  body?: string;
  contentType?: string;
  /** So many submissions with the same prompt get 500 before one is taken. */
  burst?: number;
  /** Has to be passed before the head of the answer is sent. */
  beforeHead?: Passage;
  /** Has to be passed in the middle of the answer's body. */
  beforeRest?: Passage;
  /** The connection is reset when the submission was read. */
  isReset?: boolean;
  /** The connection ends after the head, or in the middle of the body. */
  cut?: "after-head" | "inside-body";
  /** What should be JSON is not. */
  isMalformed?: boolean;

  /** So many others are before it in the queue; each question about it lets one of them go. */
  queue?: number;
  /** So many questions about it are answered with IN_PROGRESS. */
  work?: number;
  /** Has to be passed before the work starts. */
  beforeStart?: Passage;
  /** Has to be passed before the work is completed. */
  beforeFinish?: Passage;
  /** In place of IN_PROGRESS. */
  statusWord?: string;
  /** After so many questions the vendor no longer knows the work. */
  vanishesAfter?: number;
  /** So many questions for the result of completed work are answered with "still in progress". */
  lateResults?: number;
  /** The work is completed, and its result is this error. */
  result?: { status: number; body: unknown; headers?: Record<string, string> };
  /** What a wish to cancel is answered with. `gone` means that it is heard, and the work is unknown from then on. */
  cancel?: "requested" | "gone" | "completed" | "unknown";
  /** So many requests to cancel are answered with 500 before one is taken. */
  cancelFailures?: number;
  /** The vendor names this origin as the one where the work can be asked about. */
  urlsOn?: string;

  /** So many of what was made are flagged, and black. */
  withheldCount?: number;
  /** So many more, or fewer, are made than asked for. */
  extraCount?: number;
  /** In which form images come with an answer. */
  form?: "base64" | "url";
  /** Where what was made is said to be. */
  outputUrl?: string;
  output?: OutputFault;
};

/** What is wrong with a file that was made. */
export type OutputFault =
  | "forbidden"
  | "wrong-type"
  | "huge"
  | "compressed"
  | "cut"
  /** Half of it, and then nothing, ever. */
  | "silent"
  | { redirectTo: string };
