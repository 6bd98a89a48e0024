import { mixColours } from "./colour.ts";
import type { Scene, SceneParts } from "./scene.ts";
import { drawCast } from "./scene-staging.ts";
import { describeSubject, type Subject } from "./subject-table.ts";
import { drawSubject } from "./subjects.ts";
import { drawBand, drawCircle, drawGlow, drawVerticalGradient, round } from "./svg-shapes.ts";

/** Subjects that are part of a station: its doors are those of the train. */
const ownSubjects: readonly Subject[] = ["train", "tunnel", "door"];

/** A platform under a hall of arches. The train is there, unless something else happens on the platform. */
export function drawStation(parts: SceneParts): Scene {
  const { canvas, palette, random, subjects, weather } = parts;
  const { width, height, unit, bleed } = canvas;
  const [track, edge] = [height * 0.7, height * 0.76];
  const stone = mixColours(random.pick(["#8d8f86", "#9a8f80", "#7f8b92"]), palette.near, palette.isDark ? 0.6 : 0.25);
  const ink = mixColours(palette.near, "#000000", 0.2);
  const id = parts.createId();
  const hall = drawVerticalGradient(id, [
    [0, mixColours(stone, ink, 0.7)],
    [0.6, stone],
    [1, mixColours(stone, ink, 0.4)],
  ]);
  const step = unit * 34;
  const arches = Array.from({ length: Math.ceil((width + 2 * bleed) / step) + 1 }, (_, index) => {
    const x = -bleed + index * step;
    const glass = `<path d="M${round(x + unit * 5)} ${round(height * 0.46)}V${round(height * 0.3)}C${round(x + unit * 5)} ${round(height * 0.12)} ${round(x + step - unit * 5)} ${round(height * 0.12)} ${round(x + step - unit * 5)} ${round(height * 0.3)}V${round(height * 0.46)}Z" fill="${mixColours(palette.sky[2], palette.light, 0.15)}" fill-opacity="0.75"/>`;
    const pillar = `<rect x="${round(x - unit * 1.6)}" y="${round(height * 0.08)}" width="${round(unit * 3.2)}" height="${round(track - height * 0.08)}" fill="${mixColours(stone, ink, 0.55)}"/>`;
    return glass + pillar;
  });
  const lamps = [0.2, 0.5, 0.8].map((share) => {
    const at = [width * share, height * 0.2] as const;
    return `<rect x="${round(at[0] - unit * 0.2)}" y="0" width="${round(unit * 0.4)}" height="${round(at[1])}" fill="${ink}"/>${drawGlow(parts, at, unit * 26, "#ffd79a", palette.isDark ? 0.7 : 0.3)}${drawCircle(at, unit * 1.5, "#ffe9c0")}`;
  });
  const isTunnel = subjects.includes("tunnel");
  const others = subjects.filter((subject) => !ownSubjects.includes(subject));
  const hasTrain = !isTunnel && (subjects.includes("train") || !others.some((each) => each !== "stairs"));
  const trainTall = describeSubject("train").size * 1.7 * unit;
  const backTall = Math.min(describeSubject("tunnel").size * unit, track - height * 0.14);
  const pit = drawBand(canvas, track - unit, edge, mixColours(ink, stone, 0.18));
  const back = isTunnel
    ? drawSubject("tunnel", parts, { foot: [width * 0.5, track + unit], height: backTall, ink }) +
      drawGlow(parts, [width * 0.5, track - backTall * 0.46], unit * 34, "#ffe9a8", 0.85)
    : "";
  const train = drawSubject("train", parts, { foot: [width * 0.42, edge + unit], height: trainTall, ink });
  const floor = mixColours(stone, palette.light, palette.isDark ? 0.08 : 0.25);
  return {
    layers: [
      { svg: `<defs>${hall}</defs>${drawBand(canvas, 0, height, `url(#${id})`)}${arches.join("")}`, depth: 0.15 },
      { svg: back + pit, depth: 0.3 },
      ...(hasTrain ? [{ svg: train, depth: 0.42 }] : []),
      {
        svg:
          drawBand(canvas, edge, height + 2, floor) +
          drawBand(canvas, edge, edge + unit * 1.6, "#e3c04a") +
          drawBand(canvas, edge + unit * 1.6, edge + unit * 2, ink),
        depth: 0.5,
      },
      {
        svg: lamps.join(""),
        depth: 0.45,
        motion: { kind: "twinkle", periodSeconds: 3.9, phase: 0.3, opacityMin: 0.88 },
      },
      ...drawCast({ ...parts, subjects: others }, { ground: height * 0.86, scale: 1.15 }),
    ],
    particles: { kind: "dust", count: 22, colour: palette.light },
    sound: weather === "rain" ? "rain" : "city",
  };
}
