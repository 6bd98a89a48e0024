import type { Clock } from "../../lib/clock.ts";
import type { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import type { GenerationRequest } from "../generation.ts";
import type { WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";

type FalProblem = { type: string; message: string; location: readonly unknown[] };

/** Classifies fal's error, for a rejected request or a failed job. */
export function readFalError(
  answer: WholeAnswer,
  { clock, type }: { clock: Clock; type: GenerationRequest["type"] },
): ProviderError {
  const [first] = listProblems(answer.body);
  return readVendorRefusal(answer, {
    now: clock.now(),
    findParam: () => (first === undefined ? null : findParam(first.location, type)),
  });
}

/** Whether fal itself responds, not a proxy. */
export function isFromFal({ headers, body }: WholeAnswer): boolean {
  return readHeader(headers["x-fal-error-type"]) !== "" || listProblems(body).length > 0;
}

export function isCanceled(answer: WholeAnswer): boolean {
  return answer.status === 499 || readHeader(answer.headers["x-fal-error-type"]) === "client_cancelled";
}

/** The result was requested too early. */
export function isStillRunning({ status, body }: WholeAnswer): boolean {
  return status === 400 && listProblems(body).some(({ message }) => /still in progress/i.test(message));
}

/** `detail` is a text, or a list of problems with fields. */
function listProblems(body: unknown): FalProblem[] {
  const detail = asRecord(body)?.detail;
  const listed = Array.isArray(detail) ? detail : detail === undefined ? [] : [detail];
  return listed.flatMap((item): FalProblem[] => {
    if (typeof item === "string") return [{ type: "", message: item, location: [] }];
    const problem = asRecord(item);
    if (problem === null) return [];
    const { type, msg, loc } = problem;
    return [
      {
        type: typeof type === "string" ? type : "",
        message: typeof msg === "string" ? msg : "",
        location: Array.isArray(loc) ? loc : [],
      },
    ];
  });
}

const paramsByField: Readonly<Record<string, string>> = {
  prompt: "prompt",
  image_size: "size",
  num_images: "n",
  duration: "duration",
  aspect_ratio: "aspect_ratio",
  audio_url: "audio_file_id",
};
const personFields: readonly unknown[] = ["image_url", "video_url"];
const imageFields: readonly unknown[] = ["image_url", "image_urls"];

/** The caller's own name of the field; fal's name is not exposed. */
function findParam(location: readonly unknown[], type: GenerationRequest["type"]): string | null {
  const [place, field] = location;
  if (place !== "body" || typeof field !== "string") return null;
  if (type === "avatar" && personFields.includes(field)) return "avatar_file_id";
  if (imageFields.includes(field)) return "input_images";
  return paramsByField[field] ?? null;
}

function readHeader(header: string | string[] | undefined): string {
  return [header].flat()[0] ?? "";
}
