import { parseRefusal } from "../failures/read-vendor-words.ts";
import { createByteCollector } from "./collect-bytes.ts";
import type { AnswerReader, ErrorReader, Outlet } from "./outlet.ts";

const refusalBytesMax = 64 * 1024;

/** Reads what an upstream says to a request that it does not take. The status alone tells enough when that is broken. */
export function createRefusalReader(outlet: Outlet, errors: ErrorReader): AnswerReader {
  const body = createByteCollector(refusalBytesMax);
  const tell = (): void => outlet.fail(errors.readError(parseRefusal(body.take().toString("utf8"))));
  return {
    add(chunk) {
      if (!body.add(chunk)) tell();
    },
    end: tell,
    fail: tell,
  };
}
