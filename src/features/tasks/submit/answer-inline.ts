import { Readable } from "node:stream";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { Files, StoredFile } from "../../files/index.ts";
import { describeRevision } from "../present-task.ts";
import type { Task } from "../task.ts";

/**
 * The error to return for a task to callers who expect images; `null` if there are outputs. A retry with the same key
 * would return the same error, so clients should not retry.
 */
export function findInlineError(task: Task, { isKeyed }: { isKeyed: boolean }): AppError | null {
  const headers: Record<string, string> = isKeyed ? { "x-should-retry": "false" } : {};
  if (task.error !== null) {
    const { code, message, param } = task.error;
    return new AppError(code, message, { ...(param === null ? {} : { param }), headers });
  }
  if (task.output.length > 0) return null;
  if (task.state === "canceled") return new AppError("task_canceled", "The task was canceled.", { headers });
  if (task.state === "expired") {
    return new AppError("upstream_timeout", "The task was not done by its deadline.", { headers });
  }
  return null;
}

const tokenCounts = {
  ...{ input_tokens: 0, input_tokens_details: { image_tokens: 0, text_tokens: 0 } },
  ...{ output_tokens: 0, total_tokens: 0 },
};

/** Images are not priced by tokens, but clients of OpenAI's API require the counts. */
export function addTokenCounts<T extends { usage: object }>(answer: T) {
  return { ...answer, usage: { ...answer.usage, ...tokenCounts } };
}

/** A response with the images inlined in `data`. They are streamed, so memory use does not depend on their size. */
export async function openInlineAnswer(
  files: Pick<Files, "getFile" | "openFile">,
  { task, answer }: { task: Task; answer: object },
): Promise<{ bytes: number; body: Readable }> {
  const stored: StoredFile[] = [];
  for (const { fileId } of task.output) {
    // Throws for a deleted file before the response has started.
    stored.push(await files.getFile(task.accountId, fileId, { param: "data", kinds: ["image"] }));
  }
  const head = `${JSON.stringify({ ...answer, data: undefined }).slice(0, -1)},"data":[`;
  const [opening, comma, tail] = ['{"b64_json":"', ",", "]}"];
  // The other fields follow the image: `"` ends its text, and their own `{` becomes a comma.
  const closings = task.output.map((item) => {
    const fields = JSON.stringify(describeRevision(item));
    return fields === "{}" ? '"}' : `",${fields.slice(1)}`;
  });

  async function* write(): AsyncIterable<string> {
    yield head;
    for (const [index, file] of stored.entries()) {
      yield `${index === 0 ? "" : comma}${opening}`;
      yield* encodeBase64(await files.openFile(file));
      yield closings[index] ?? "";
    }
    yield tail;
  }

  const encoded = stored.map(
    ({ bytes }, index) => opening.length + 4 * Math.ceil(bytes / 3) + Buffer.byteLength(closings[index] ?? ""),
  );
  const commas = Math.max(0, stored.length - 1) * comma.length;
  const bytes = Buffer.byteLength(head) + encoded.reduce((sum, length) => sum + length, commas) + tail.length;
  return { bytes, body: Readable.from(write(), { objectMode: false }) };
}

/** Base64 encodes three bytes at a time, so the rest of a chunk is carried over to the next. */
async function* encodeBase64(chunks: AsyncIterable<Buffer>): AsyncIterable<string> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const joined = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    const whole = joined.length - (joined.length % 3);
    rest = joined.subarray(whole);
    yield joined.toString("base64", 0, whole);
  }
  yield rest.toString("base64");
}
