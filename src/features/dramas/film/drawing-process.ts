// Draws all texts of a film in a separate process: fontconfig is configured per process, and the input image may be
// slow, large or broken. Started by run-drawing.ts.
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { loadFontMetrics } from "../../../platform/text/font-metrics.ts";
import { drawSheets } from "./draw-captions.ts";
import { drawPoster, drawTitleCard } from "./draw-titles.ts";
import { takeDrawable } from "./drawable-text.ts";
import type { DrawingAnswer, DrawingOrder } from "./drawing-order.ts";
import { chooseCaptionStyle, placeStrip, planCues } from "./plan-captions.ts";

const [titleName, posterName] = ["title.png", "poster.jpg"];
const metrics = loadFontMetrics();

async function draw(order: DrawingOrder): Promise<DrawingAnswer> {
  const { frame, folder, hasCaptions } = order;
  const style = chooseCaptionStyle(frame);
  const strip = placeStrip(frame, style);
  const shots: DrawingAnswer["shots"][number][] = [];
  for (const [shotNumber, { lines }] of order.shots.entries()) {
    const cues = lines.flatMap((line) => planCues(line, style, metrics));
    const sheets = hasCaptions ? await drawSheets(cues, { strip, style, metrics, folder, shotNumber }) : [];
    shots.push({
      sheets,
      cues: cues.map(({ speaker, text, startFrame, endFrame }) => ({ speaker, text, startFrame, endFrame })),
    });
  }
  await drawTitleCard(join(folder, titleName), frame, { ...order, metrics });
  await drawPoster(join(folder, posterName), frame, { ...order, metrics });
  return { titleName, posterName, strip, shots, undrawable: listUndrawable(order) };
}

function listUndrawable({ title, shots, hasCaptions }: DrawingOrder): string[] {
  const captioned = hasCaptions ? shots : [];
  const texts = captioned.flatMap(({ lines }) => lines.flatMap(({ speaker, text }) => [speaker ?? "", text]));
  return [...new Set([title, ...texts].flatMap((text) => takeDrawable(text, metrics).undrawable))];
}

process.stdout.write(JSON.stringify(await draw((await json(process.stdin)) as DrawingOrder)));
