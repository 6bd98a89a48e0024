import type { Passage } from "./gate.ts";

/** How a fake media upstream treats one job, from its submission to the last byte of its output. */
export type MediaBehaviour = {
  /** The submission is refused with this status, in the vendor's format. */
  status?: number;
  /** The vendor's error. A code is sent as given; the message gets the canary. */
  error?: { code?: string; message?: string; param?: string };
  /** Sent in addition to the vendor's headers. */
  headers?: Record<string, string>;
  /** Sent unchanged instead of the answer. */
  body?: string;
  contentType?: string;
  /** This many submissions with the same prompt get 500 before one is accepted. */
  burst?: number;
  /** Passed before the head of the answer is sent. */
  beforeHead?: Passage;
  /** Passed in the middle of the answer's body. */
  beforeRest?: Passage;
  /** The connection is reset after the submission was read. */
  isReset?: boolean;
  /** The connection ends after the head, or in the middle of the body. */
  cut?: "after-head" | "inside-body";
  /** JSON answers are malformed. */
  isMalformed?: boolean;

  /** This many others are ahead in the queue; each poll removes one of them. */
  queue?: number;
  /** This many polls are answered with IN_PROGRESS. */
  work?: number;
  /** Passed before the job starts. */
  beforeStart?: Passage;
  /** Passed before the job is completed. */
  beforeFinish?: Passage;
  /** Replaces IN_PROGRESS. */
  statusWord?: string;
  /** After this many polls the vendor no longer knows the job. */
  vanishesAfter?: number;
  /** This many requests for the result of a completed job are answered with "still in progress". */
  lateResults?: number;
  /** The job is completed, and its result is this error. */
  result?: { status: number; body: unknown; headers?: Record<string, string> };
  /** The answer to a cancel request. `gone` means that it is accepted, and the job is unknown from then on. */
  cancel?: "requested" | "gone" | "completed" | "unknown";
  /** This many cancel requests are answered with 500 before one is accepted. */
  cancelFailures?: number;
  /** The origin that the vendor returns for polling the job. */
  urlsOn?: string;

  /** This many outputs are flagged, and black. */
  withheldCount?: number;
  /** This many outputs more, or fewer, than requested. */
  extraCount?: number;
  /** The encoding of images in an answer. */
  form?: "base64" | "url";
  /** The address that is returned for the output. */
  outputUrl?: string;
  output?: OutputFault;
};

/** A fault of an output file. */
export type OutputFault =
  | "forbidden"
  | "wrong-type"
  | "huge"
  | "compressed"
  | "cut"
  /** Half of it, and then silence. */
  | "silent"
  | { redirectTo: string };
