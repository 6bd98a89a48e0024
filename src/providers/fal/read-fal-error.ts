import type { Clock } from "../../lib/clock.ts";
import { ProviderError, type ProviderErrorKind } from "../contract.ts";
import type { GenerationRequest } from "../generation.ts";
import type { WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";
import { readUpstreamError } from "../openai-compatible/read-upstream-error.ts";

type FalProblem = { type: string; message: string; location: readonly unknown[] };

const messageCharactersMax = 500;

/** What says more than the status does, which is 422 for most. */
const kindsByType: Readonly<Record<string, ProviderErrorKind>> = {
  content_policy_violation: "content-refused",
  generation_timeout: "timeout",
  request_timeout: "timeout",
  startup_timeout: "timeout",
  downstream_service_error: "overloaded",
  downstream_service_unavailable: "overloaded",
  no_media_generated: "bad-answer",
  // It could not fetch what we named; somebody who is handed the bytes can.
  file_download_error: "unreachable",
};

/** What the vendor's refusal means for us, be it of a request or the end of one that was taken. */
export function readFalError(
  answer: WholeAnswer,
  { clock, type }: { clock: Clock; type: GenerationRequest["type"] },
): ProviderError {
  const { status, headers, body } = answer;
  const problems = listProblems(body);
  const named = [...problems.map((problem) => problem.type), readHeader(headers["x-fal-error-type"])];
  const known = named.flatMap((name) => kindsByType[name] ?? []);
  const kind = known.find((one) => one === "content-refused") ?? known[0] ?? null;
  // Status, rate limits and the time to wait are everybody's.
  const usual = readUpstreamError({ status, headers, body: undefined, clock });
  const [first] = problems;
  return new ProviderError(
    kind ?? (status === 504 ? "timeout" : usual.kind),
    `The upstream refused with status ${status}.`,
    {
      param: first === undefined ? null : findParam(first.location, type),
      retryAfterMs: usual.retryAfterMs,
      isIsolated: kind === "unreachable",
      detail: {
        status,
        code: named.find((name) => name !== "") ?? null,
        message: first?.message.slice(0, messageCharactersMax) ?? null,
      },
    },
  );
}

/** Whether it is the vendor itself that answers, and not somebody on the way to it. */
export function isFalsOwnWord({ headers, body }: WholeAnswer): boolean {
  return readHeader(headers["x-fal-error-type"]) !== "" || listProblems(body).length > 0;
}

export function isCanceled(answer: WholeAnswer): boolean {
  return answer.status === 499 || readHeader(answer.headers["x-fal-error-type"]) === "client_cancelled";
}

/** The result of a request is asked for too early. */
export function isStillRunning({ status, body }: WholeAnswer): boolean {
  return status === 400 && listProblems(body).some(({ message }) => /still in progress/i.test(message));
}

/** `detail` is a text, or a list of what is wrong with which field. */
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

/** The caller's own name of the field; what the vendor calls it is nobody's business. */
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
