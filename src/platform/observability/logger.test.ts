import { stripVTControlCharacters } from "node:util";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../errors/app-error.ts";
import { createLogger, type Logger } from "./logger.ts";

type Level = Parameters<typeof createLogger>[0]["level"];

/** The lines written while `act` runs, without colours. */
function record(act: (logger: Logger) => void, format: "json" | "pretty" = "json", level: Level = "info"): string {
  let written = "";
  const write = (text: string): void => {
    written += text;
  };
  act(createLogger({ level, format, write }));
  return stripVTControlCharacters(written);
}

function recordEntry(act: (logger: Logger) => void): unknown {
  return JSON.parse(record(act));
}

describe("a line of JSON", () => {
  test("contains exactly the level name, the ISO 8601 time, the message and the fields", () => {
    const text = record((logger) => logger.warn({ attempt: 2, nested: { a: [1] } }, "slow"));
    expect(text).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(text)).toEqual({
      level: "warn",
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      msg: "slow",
      attempt: 2,
      nested: { a: [1] },
    });
  });

  test("has a fixed order, with and without fields", () => {
    const time = '"time":"[^"]{24}"';
    const withFields = record((logger) => logger.info({ b: 1, a: "two" }, "three"));
    expect(withFields).toMatch(new RegExp(`^{"level":"info",${time},"b":1,"a":"two","msg":"three"}\n$`));
    for (const without of [record((logger) => logger.info({}, "one")), record((logger) => logger.info("one"))]) {
      expect(without).toMatch(new RegExp(`^{"level":"info",${time},"msg":"one"}\n$`));
    }
  });

  test("is one line, whatever the message", () => {
    expect(record((logger) => logger.info({ path: "a\nb" }, "one\ntwo")).trimEnd()).not.toContain("\n");
  });

  test.each([
    ["debug", ["debug", "info", "warn", "error"]],
    ["info", ["info", "warn", "error"]],
    ["warn", ["warn", "error"]],
    ["error", ["error"]],
  ] as const)("at level %s only %j are written", (level, expected) => {
    const write = (logger: Logger): void => {
      for (const each of ["debug", "info", "warn", "error"] as const) logger[each](`a line of ${each}`);
    };
    const lines = record(write, "json", level).trimEnd().split("\n");
    expect(lines.map((line) => JSON.parse(line))).toMatchObject(expected.map((each) => ({ level: each })));
  });
});

describe("values", () => {
  const tell = (fields: Record<string, unknown>): unknown => recordEntry((logger) => logger.info(fields, "told"));
  const rest = { level: "info", time: expect.any(String), msg: "told" };

  test("JSON values are written unchanged", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (values) => {
        // Reserved at the top level of a line, but not inside a field.
        const { level: _level, time: _time, msg: _msg, error: _error, ...fields } = values;
        expect(tell(fields)).toEqual({ ...rest, ...JSON.parse(JSON.stringify(fields)) });
        expect(tell({ values })).toEqual({ ...rest, values: JSON.parse(JSON.stringify(values)) });
      }),
    );
  });

  test("NaN and infinities are null, minus zero is zero, and undefined is omitted", () => {
    expect(
      tell({ a: Number.NaN, b: Number.POSITIVE_INFINITY, c: -0, d: undefined, e: () => {}, f: Symbol("f") }),
    ).toEqual({ ...rest, a: null, b: null, c: 0 });
    expect(tell({ error: undefined })).toEqual(rest);
  });

  test("a bigint is written exactly", () => {
    expect(tell({ amount: 9_007_199_254_740_993n, list: [{ amount: -1n }] })).toEqual({
      ...rest,
      amount: "9007199254740993",
      list: [{ amount: "-1" }],
    });
  });

  test("circular references are cut; repeated references are written each time", () => {
    const inner = { name: "inner" };
    const circle: Record<string, unknown> = { first: inner, second: inner };
    circle.list = [circle];
    expect(tell({ circle })).toEqual({ ...rest, circle: { first: inner, second: inner, list: ["[circular]"] } });
    const detail: Record<string, unknown> = {};
    detail.error = new AppError("internal_error", "sorry", { detail });
    expect(tell(detail)).toMatchObject({ error: { message: "sorry", detail: { error: { detail: "[circular]" } } } });
  });

  test("an unserializable value loses neither the line nor other fields", () => {
    const broken = {
      toJSON() {
        throw new Error("no");
      },
    };
    const locked = {
      get value() {
        throw new Error("no");
      },
    };
    let deep: unknown = "bottom";
    for (let depth = 0; depth < 100_000; depth++) deep = [deep];
    const unknown = "[unserializable]";
    expect(tell({ broken, inside: { locked }, deep, status: 200 })).toEqual({
      ...rest,
      broken: unknown,
      inside: unknown,
      deep: unknown,
      status: 200,
    });
    expect(tell({ toJSON: broken.toJSON, status: 200 })).toEqual({ ...rest, status: 200 });
  });
});

describe("secrets", () => {
  const secrets = [
    ["an API key", `sk-slc-${"Ab3".repeat(12)}`, "Ab3"],
    ["a database password", "postgres://sluice:hunter2@db.example.com:5432/sluice", "hunter2"],
    ["a database password with signs in it", "postgresql://sluice:hun%40ter2!$&:x@db/sluice", "ter2"],
    ["a password with an at sign in it", "postgres://sluice:hun@ter2@db/sluice", "ter2"],
    ["a password without a user", "redis://:hunter2@cache:6379", "hunter2"],
    ["a password in a query", "postgres://db/sluice?user=me&password=hunter2", "hunter2"],
    // In two parts, so secret scanners don't report them.
    ["a key of Stripe's", `sk_${"live"}_${"Ab3".repeat(8)}`, "Ab3"],
    ["a restricted key of Stripe's for tests", `rk_${"test"}_${"Ab3".repeat(8)}`, "Ab3"],
  ] as const;
  const places: readonly [string, (logger: Logger, text: string) => void][] = [
    ["a message", (logger, text) => logger.info(`tried ${text} twice: ${text}`)],
    ["a field", (logger, text) => logger.info({ text }, "tried")],
    ["a nested field", (logger, text) => logger.info({ a: { b: [{ text }] } }, "tried")],
    ["the name of a field", (logger, text) => logger.info({ [text]: 1 }, "tried")],
    ["an error's message and stack", (logger, text) => logger.error({ error: new Error(`no ${text}`) }, "failed")],
    [
      "an error's cause",
      (logger, text) => logger.error({ error: new Error("no", { cause: new Error(text) }) }, "failed"),
    ],
    [
      "a cause that is only text",
      (logger, text) => logger.error({ error: new Error("no", { cause: text }) }, "failed"),
    ],
    ["a thrown text", (logger, text) => logger.error({ error: text }, "failed")],
    [
      "an AppError's detail",
      (logger, text) => logger.error({ error: new AppError("internal_error", "no", { detail: { text } }) }, "failed"),
    ],
  ];
  const cases = secrets.flatMap(([what, text, secret]) =>
    places.map(([place, write]) => ({ what, place, text, secret, write })),
  );

  test.each(cases)("$what is redacted from $place", ({ text, secret, write }) => {
    for (const format of ["json", "pretty"] as const) {
      const written = record((logger) => write(logger, text), format);
      expect(written).not.toBe("");
      expect(written).not.toContain(secret);
    }
  });

  test("a redacted line stays readable and valid JSON", () => {
    const [[, key], [, address]] = secrets;
    expect(recordEntry((logger) => logger.info({ address }, `key ${key}`))).toMatchObject({
      address: "postgres://[hidden]@db.example.com:5432/sluice",
      msg: "key sk-slc-[hidden]",
    });
  });

  test("key ids, URLs without a password and email addresses are kept", () => {
    const fields = { id: "key_01hk153x00", url: "http://localhost:4242/v1?a=b:c", email: "someone@example.com" };
    expect(recordEntry((logger) => logger.info(fields, "prefix sk-slc-…ab12"))).toMatchObject({
      ...fields,
      msg: "prefix sk-slc-…ab12",
    });
  });
});

describe("errors", () => {
  const databaseError = Object.assign(new Error("duplicate key value violates a constraint"), {
    code: "23505",
    constraint: "accounts_email_unique",
    detail: "Key (email)=(private@example.com) already exists.",
    where: "PL/pgSQL function private_thing",
  });

  test("a database error is logged with message, code and constraint, without quoted values", () => {
    for (const error of [databaseError, new AppError("internal_error", "Sorry.", { cause: databaseError })]) {
      const text = record((logger) => logger.error({ error }, "failed"));
      expect(text).toContain('"code":"23505","constraint":"accounts_email_unique"');
      expect(text).not.toContain("private");
    }
  });

  test("an AppError is logged with its detail and all causes with their stacks", () => {
    const cause = new TypeError("second", { cause: "third" });
    const error = new AppError("overloaded", "first", { detail: { accountId: "acct_1" }, cause });
    expect(recordEntry((logger) => logger.error({ error }, "failed"))).toMatchObject({
      error: {
        name: "AppError",
        message: "first",
        code: "overloaded",
        detail: { accountId: "acct_1" },
        stack: expect.stringContaining("logger.test.ts"),
        cause: { name: "TypeError", message: "second", cause: { message: "third" }, stack: expect.any(String) },
      },
    });
  });
});

describe("the pretty format", () => {
  const request = { request_id: "req_1", method: "GET", route: "/v1/models", status: 200, duration_ms: 1.5 };

  test("a request is one line with its main fields", () => {
    const text = record((logger) => logger.info({ ...request, key_id: "key_1" }, "request"), "pretty");
    expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} info {2}GET \/v1\/models 200 1\.5 ms req_1 key_id=key_1\n$/);
  });

  test("a request without a route shows its path", () => {
    const text = record(
      (logger) => logger.info({ ...request, route: null, path: "/x", status: 404 }, "request"),
      "pretty",
    );
    expect(text).toContain(" GET /x 404 1.5 ms req_1\n");
  });

  test("any other line is its message and its fields", () => {
    const text = record((logger) => logger.warn({ port: 4242, list: ["a"], site: "here" }, "ready"), "pretty");
    expect(text).toMatch(/ warn {2}ready port=4242 list=\["a"\] site=here\n$/);
  });

  test("an error shows its stack on lines of its own", () => {
    const text = record((logger) => logger.error({ error: new Error("broken") }, "cannot go on"), "pretty");
    expect(text).toMatch(/ error cannot go on\nError: broken\n +at .*logger\.test\.ts/);
  });
});

describe("errors logged in any way", () => {
  const databaseError = Object.assign(new Error("duplicate key"), { detail: "Key (email)=(a@b.c)", where: "a@b.c" });

  test.each<[string, (logger: Logger) => void]>([
    ["as the first argument", (logger) => logger.error(databaseError)],
    ["under pino's own name", (logger) => logger.error({ err: databaseError }, "failed")],
    ["under ours", (logger) => logger.error({ error: databaseError }, "failed")],
    ["under any other", (logger) => logger.error({ reason: databaseError }, "failed")],
    ["deep inside", (logger) => logger.error({ list: [{ reason: databaseError }] }, "failed")],
  ])("%s, customer data in a database error is omitted", (_name, act) => {
    const text = record(act);
    expect(text).toContain("duplicate key");
    expect(text).not.toContain("a@b.c");
  });

  test("a circular cause chain is cut", () => {
    const error = new Error("round and round");
    error.cause = error;
    expect(record((logger) => logger.error({ error }, "failed"))).toContain("round and round");
  });

  test("the pretty format shows the cause's stack and fields", () => {
    const cause = new TypeError("the real reason");
    const error = new AppError("internal_error", "Something went wrong.", { cause, detail: { step: "third" } });
    const text = record((logger) => logger.error({ error }, "failed"), "pretty");
    expect(text).toMatch(/AppError: Something went wrong\..*"step":"third".*caused by\nTypeError: the real reason/s);
  });
});
