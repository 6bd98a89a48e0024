import type { Clock } from "../../lib/clock.ts";
import type { ProviderError } from "../contract.ts";
import { readVendorRefusal } from "../failures/read-vendor-refusal.ts";
import type { WholeAnswer } from "../media-client.ts";
import { asRecord } from "../openai-compatible/json-value.ts";

type FalProblem = { type: string; message: string; location: readonly unknown[] };

/** Classifies fal's error, for a rejected request or a failed job. */
export function readFalError(
  answer: WholeAnswer,
  { clock, findParam }: { clock: Clock; findParam(field: string): string | null },
): ProviderError {
  const [first] = listProblems(answer.body);
  return readVendorRefusal(answer, {
    now: clock.now(),
    findParam: () => (first === undefined ? null : findPlace(first.location, findParam)),
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

/** The caller's own name of the field; fal's name is not exposed. */
function findPlace([place, field]: readonly unknown[], findParam: (field: string) => string | null): string | null {
  return place === "body" && typeof field === "string" ? findParam(field) : null;
}

function readHeader(header: string | string[] | undefined): string {
  return [header].flat()[0] ?? "";
}
