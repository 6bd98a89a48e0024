import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { isDatabaseUnavailable } from "../../../src/platform/database/database.ts";
import { createSession, type Session } from "../../../src/platform/database/session.ts";
import { createTestDatabase, type TestDatabase } from "../../harness/test-database.ts";

let database: TestDatabase;
let session: Session;
beforeEach(async () => {
  database = await createTestDatabase();
  session = createSession({ connectionString: database.url });
});
afterEach(async () => {
  await session.close();
  await database.close();
});

const echo = {
  name: "echo",
  text: "select $1::text as word, $2::bigint as amount, $3::bigint[] as amounts, $4::boolean as is_so",
};

test("the values of a row keep their types, the first time and every time after it", async () => {
  const row = { word: 'a "word" with ünïcode', amount: 2n ** 60n, amounts: [1n, -2n], is_so: true };
  for (let time = 0; time < 3; time += 1) {
    const values = [row.word, String(row.amount), "{1,-2}", "t"];
    expect(await session.query(echo, values)).toEqual([row]);
  }
  expect(await session.query(echo, [null, null, null, null])).toEqual([
    { word: null, amount: null, amounts: null, is_so: null },
  ]);
});

test("no row, one row and many rows are returned", async () => {
  const count = { name: "count", text: "select generate_series(1, $1::integer) as number" };
  for (const total of [0, 1, 300]) {
    const rows = await session.query(count, [String(total)]);
    expect(rows).toEqual(Array.from({ length: total }, (_, index) => ({ number: index + 1 })));
  }
});

test("a query that cannot be parsed, prepared or run fails alone, and works once corrected", async () => {
  await expect(session.query(echo, ["a", "no number", null, null])).rejects.toMatchObject({ code: "22P02" });
  expect(await session.query(echo, ["a", "1", null, null])).toMatchObject([{ amount: 1n }]);
  await expect(session.query({ name: "broken", text: "select from nowhere" }, [])).rejects.toMatchObject({
    code: "42P01",
  });
  expect(await session.query({ name: "broken", text: "select 1 as one" }, [])).toEqual([{ one: 1 }]);
  const divide = { name: "divide", text: "select 1 / $1::integer as part" };
  await expect(session.query(divide, ["0"])).rejects.toMatchObject({ code: "22012" });
  expect(await session.query(divide, ["1"])).toEqual([{ part: 1 }]);
});

test("a broken connection fails its query, and the next query reconnects and prepares again", async () => {
  await session.query(echo, ["before", null, null, null]);
  const end = { name: "end", text: "select pg_terminate_backend(pg_backend_pid()) as is_ended" };
  const error = await session.query(end, []).catch((caught: unknown) => caught);
  expect(isDatabaseUnavailable(error)).toBe(true);
  // The error arrives just before the connection ends, which may fail one more query.
  const askAgain = (): Promise<unknown[] | null> => session.query(echo, ["after", null, null, null]).catch(() => null);
  expect((await askAgain()) ?? (await askAgain())).toMatchObject([{ word: "after" }]);
});

test("a query on a silent server times out, and its late answer is discarded", async () => {
  await session.query(echo, ["before", null, null, null]);
  await session.close();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    await session.query(echo, ["connects again", null, null, null]);
    const silent = session.query({ name: "sleep", text: "select pg_sleep(1) as slept" }, []);
    const givenUp = expect(silent).rejects.toSatisfy(isDatabaseUnavailable);
    vi.advanceTimersByTime(36_000);
    await givenUp;
    expect(await session.query(echo, ["after", null, null, null])).toMatchObject([{ word: "after" }]);
  } finally {
    vi.useRealTimers();
  }
});
