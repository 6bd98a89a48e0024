import { afterEach, beforeEach, expect, test } from "vitest";
import { type Cast, writeDramaCatalog } from "../../harness/dramas/drama-catalog.ts";
import { monologue } from "../../harness/dramas/drama-play.ts";
import { type Director, type DramaStage, openDramaStage } from "../../harness/dramas/drama-stage.ts";
import { createGate, type Gate } from "../../harness/upstreams/gate.ts";

let stage: DramaStage;
let director: Director;
let gate: Gate;

beforeEach(async () => {
  stage = await openDramaStage({ casts: ["drama", "other"] });
  director = await stage.createDirector();
  stage.perform(monologue);
  gate = createGate();
  stage.treatWriter("drama", "drama_roles", { beforeHead: gate });
});
afterEach(() => stage[Symbol.asyncDispose]());

const casts: readonly Cast[] = [{ name: "drama" }, { name: "other" }];

/** A drama whose script is written, and whose roles are being written. */
async function beginDrama(): Promise<string> {
  const { id } = await director.send({ model: "drama" });
  await gate.reached();
  return id;
}

test("a drama whose model leaves the catalog fails at the next step that needs it, and written documents are kept and charged", async () => {
  const id = await beginDrama();
  await stage.applyCatalog(writeDramaCatalog(stage.upstream, casts.slice(1)));
  gate.open();
  const drama = await director.awaitDrama(id);
  expect(drama).toMatchObject({
    status: "failed",
    error: { code: "model_unavailable", param: null, retryable: true },
    usage: { charge: "0.03" },
  });
  expect(drama.output.map(({ type }) => type)).toEqual(["roles", "script"]);
});

test("a drama continues with the current models of its stages, at the price of its submission", async () => {
  const id = await beginDrama();
  // The same two dramas with their models swapped; and every price is nine higher.
  const source = writeDramaCatalog(stage.upstream, casts)
    .replaceAll(/(image|speech|video|avatar): (drama|other)-/g, (_, part, cast) => {
      return `${part}: ${cast === "drama" ? "other" : "drama"}-`;
    })
    .replaceAll(/ price: "0\./g, ' price: "9.');
  expect(source).toContain("image: other-image");
  await stage.applyCatalog(source);
  gate.open();
  const drama = await director.awaitDrama(id);
  expect(drama).toMatchObject({ status: "succeeded", usage: { charge: "0.53" } });
  for (const part of ["image", "speech", "avatar"] as const) {
    expect([part, stage.listRoutes("drama", part), stage.listRoutes("other", part)]).toEqual([part, [], [1]]);
  }
});
