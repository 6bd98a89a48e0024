// @module-tag extended
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { sql } from "kysely";
import { expect, test } from "vitest";
import { monologue } from "../../harness/dramas/drama-play.ts";
import { type Director, openDramaStage } from "../../harness/dramas/drama-stage.ts";
import { waitUntil } from "../../harness/wait-until.ts";

/** Set TEST_DRAMAS for more; fifty take minutes of both cores, which would delay every test run. */
const dramaCount = Number(process.env.TEST_DRAMAS ?? 20);
const accountCount = 5;
/** Each gateway assembles one video at a time, in a second or two, and this machine may be slow. */
const patienceMs = 900_000;

test("many dramas at once all become videos, each once and paid once, though one of their two gateways closes midway", {
  timeout: patienceMs + 30_000,
}, async () => {
  await using stage = await openDramaStage();
  stage.perform(monologue);
  const another = await stage.startAnother();
  const directors = await Promise.all(
    Array.from({ length: accountCount }, () => stage.createDirector({ cash: "100" })),
  );
  const startedAt = performance.now();
  const sent = await Promise.all(
    Array.from({ length: dramaCount }, async (_, index) => {
      const director = directors[index % accountCount] as Director;
      return { director, id: (await director.send({ title: `Drama ${index}`, script: `Text ${index}` })).id };
    }),
  );
  const sentMs = performance.now() - startedAt;
  // Each gateway assembles one video at a time, so two folders mean that the other gateway is at it. By chance, one
  // gateway may get nearly all dramas: then it closes when half of them are done.
  const films = join(stage.dataDir, "films");
  const closedWith = await waitUntil(
    "both gateways to put films together",
    async () => {
      const folders = await readdir(films).catch(() => []);
      const finished = await countFinished();
      return (
        ((folders.length >= 2 && finished >= 5) || finished >= dramaCount / 2) && { finished, atWork: folders.length }
      );
    },
    patienceMs,
  );
  await another[Symbol.asyncDispose]();

  async function countFinished(): Promise<number> {
    const { rows } = await sql<{ count: number }>`
      select count(*)::int as count from tasks where type = 'drama' and phase = 'ended'`.execute(stage.database);
    return rows[0]?.count ?? 0;
  }

  await waitUntil("all dramas to end", async () => (await countFinished()) === dramaCount, patienceMs);
  const totalMs = performance.now() - startedAt;
  const memoryMb = process.memoryUsage().rss / 2 ** 20;
  console.log(
    `drama crowd: ${dramaCount} dramas sent in ${Math.round(sentMs)} ms, ended in ${Math.round(totalMs)} ms ` +
      `(${closedWith.finished} when one of two gateways closed, ${closedWith.atWork} in the making), ${Math.round(memoryMb)} MB`,
  );
  for (const { director, id } of sent) {
    const drama = await director.readDrama(id);
    expect(drama).toMatchObject({ status: "succeeded", usage: { charge: "0.53" } });
    expect(drama.output.filter(({ type }) => type === "video")).toHaveLength(1);
    expect((await director.fetchOutput(drama.output[0] ?? { url: "" })).length).toBe(drama.output[0]?.bytes);
  }
  for (const director of directors) {
    const own = sent.filter((one) => one.director === director).map(({ id }) => id);
    const events = await director.listEvents();
    expect(events.map(({ data }) => data.task_id).toSorted()).toEqual(own.toSorted());
    expect((await director.listCharges()).map(({ paid }) => paid)).toEqual(own.map(() => "0.53"));
    const available = (100 - 0.53 * own.length).toFixed(2);
    expect(await director.readBalance()).toEqual({ available, frozen: "0.00" });
  }
  // No request is repeated, except by the gateway that was closed midway.
  expect(stage.listQuestions("drama", "drama_storyboard").length).toBeGreaterThanOrEqual(dramaCount);
  for (const part of ["image", "speech", "avatar"] as const) {
    expect([part, stage.listSubmissions("drama", part).length]).toEqual([part, dramaCount]);
  }
  expect(await readdir(films)).toEqual([]);
});
