import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { findFalFields } from "../../src/providers/fal/find-fal-fields.ts";
import type { OptionValue } from "../../src/providers/media-options.ts";
import { findValueObstacle, listFields, writeFields } from "../../src/providers/write-media-fields.ts";
import { findFalType } from "./derive-fal-fields.ts";
import { type FalEndpoint, type FalProperty, readFalTypes } from "./read-fal-types.ts";

const types = join(import.meta.dirname, "../../node_modules/@fal-ai/client/src/types/endpoints.d.ts");
const endpoints = readFalTypes(readFileSync(types, "utf8"));
const mediaTypes = ["image", "video", "avatar"] as const;

type Value = OptionValue | readonly string[];

/** Values that callers send. Free text may be anything. */
const samples: Readonly<Record<string, readonly Value[]>> = {
  size: ["1024x1024", "1024x768", "1344x768", "1536x1024", "640x640"],
  n: [1, 2, 4],
  duration: [4, 5, 6, 8, 10, 12],
  aspect_ratio: ["16:9", "9:16", "1:1", "21:9", "auto"],
  input_images: [["https://a.example/1.png"], ["https://a.example/1.png", "https://a.example/2.png"]],
  resolution: ["480p", "720p", "1080p", "1K", "2k"],
  quality: ["low", "high", "hd"],
  style: ["anime", "vivid", "AUTO"],
  background: ["opaque", "transparent"],
  input_fidelity: ["low", "high"],
  frame_rate: [24, 25, 30],
  audio: [true, false],
  seed: [7],
};

/** Whether the endpoint's type takes a value: written without the code that derives the rules. */
function takes(property: FalProperty | undefined, value: unknown): boolean {
  return (property?.members ?? []).some((member) => {
    if (Array.isArray(value)) return member === "Array<string>";
    if (typeof value === "object") return member === "ImageSize";
    return member === typeof value || member === JSON.stringify(value);
  });
}

/** The value that an endpoint makes without being told. */
function isUsual({ input }: FalEndpoint, name: string, value: Value): boolean {
  if (name === "n") return value === 1;
  if (name === "aspect_ratio") return value === "auto";
  const rate = input.frames_per_second ?? input.fps ?? input.frame_rate;
  const seconds = Number(input.num_frames?.default) / Number(rate?.default);
  return name === "duration" && Math.abs(seconds - Number(value)) <= 0.5;
}

/** What happens to a value: it is refused before it is sent, sent as the endpoint takes it, or anything else. */
function judge(endpoint: FalEndpoint, type: (typeof mediaTypes)[number], [name, value]: [string, Value]) {
  const rules = findFalFields(endpoint.id)[type];
  if (rules === undefined || findValueObstacle(name, value, rules) !== null) return "refused";
  const sent = Object.entries(
    writeFields(name === "size" ? { size: value, width: 640, height: 640 } : { [name]: value }, rules),
  );
  if (sent.length === 0) return isUsual(endpoint, name, value) ? "honoured" : "ignored";
  return sent.every(([field, own]) => takes(endpoint.input[field], own)) ? "honoured" : "wrong";
}

/** Whether some size, or some duration and aspect ratio, can be made. */
function isUsable(endpoint: FalEndpoint): boolean {
  const type = findFalType(endpoint);
  if (type === null) return false;
  const needed = { image: ["size", "n"], video: ["duration", "aspect_ratio"], avatar: ["aspect_ratio"] }[type];
  return needed.every((name) =>
    (samples[name] ?? []).some((value) => judge(endpoint, type, [name, value]) === "honoured"),
  );
}

test("no endpoint of fal ignores a field that we offer: each is honoured, or refused before it is sent", () => {
  const counts = { honoured: 0, refused: 0, ignored: 0, wrong: 0 };
  const faults: string[] = [];
  for (const endpoint of endpoints) {
    for (const type of mediaTypes) {
      for (const name of listFields(type).filter((one) => one !== "width" && one !== "height")) {
        for (const value of samples[name] ?? ["https://a.example/any"]) {
          const verdict = judge(endpoint, type, [name, value]);
          counts[verdict] += 1;
          if (verdict === "ignored" || verdict === "wrong") {
            faults.push(`${endpoint.id}: ${type} ${name}=${String(value)} is ${verdict}`);
          }
        }
      }
    }
  }
  const ours = endpoints.filter((endpoint) => findFalType(endpoint) !== null);
  const faulty = new Set(faults.map((fault) => fault.split(":")[0]));
  const good = 100 * (1 - faulty.size / endpoints.length);
  const usable = ours.filter(isUsable).length;
  process.stdout.write(
    `fal: ${endpoints.length} endpoints, ${ours.length} make images, videos or avatars; ${good.toFixed(1)} % honour or ` +
      `refuse every value, ${usable} take a plain request; values: ${JSON.stringify(counts)}\n`,
  );
  expect(faults).toEqual([]);
  expect(endpoints.length).toBeGreaterThan(1_000);
  expect(good).toBeGreaterThanOrEqual(90);
  // The figure would mean nothing if everything were refused.
  expect(usable / ours.length).toBeGreaterThan(0.5);
});

test("an endpoint that is not listed has the names that most have", () => {
  expect(findFalFields("someone/else").video?.duration).toEqual({ field: "duration", as: "text" });
});
