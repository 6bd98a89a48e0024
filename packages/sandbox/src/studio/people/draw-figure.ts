import { mixColours } from "../scenes/colour.ts";
import type { FigureLooks } from "./figure-looks.ts";

/** The box that figures are drawn in. They are cut off at its lower edge. */
export const figureBox = { width: 200, height: 240 } as const;

/** `turn` is the direction of the look, from −1 (left) to 1 (right); `light` and `shade` are the scene's. */
export type FigurePose = { id: string; turn: number; tilt: number; light: string; shade: string };

/** A simple figure from the chest up, as SVG elements in the figure box. */
export function drawFigure(looks: FigureLooks, pose: FigurePose): string {
  const { id, light, shade, tilt } = pose;
  const tone = (colour: string): string => mixColours(mixColours(colour, shade, 0.14), light, 0.06);
  const [skin, hair, clothes] = [tone(looks.skin), tone(looks.hair), tone(looks.clothes)];
  const colours: FigureColours = { skin, hair, clothes, ink: mixColours("#241a18", shade, 0.3) };
  const fade = (name: string, colour: string): string =>
    `<linearGradient id="${id}${name}" x1="0" x2="1" y1="0" y2="0.4"><stop offset="0" stop-color="${mixColours(colour, light, 0.16)}"/><stop offset="0.55" stop-color="${colour}"/><stop offset="1" stop-color="${mixColours(colour, shade, 0.4)}"/></linearGradient>`;
  const head = `<g transform="rotate(${tilt} 100 140)">${drawHairBehind(looks, colours)}${drawEars(colours)}<path d="M66 84C66 52 82 42 100 42C118 42 134 52 134 84C134 112 118 137 100 137C82 137 66 112 66 84Z" fill="url(#${id}skin)"/>${drawFace(looks, colours, pose.turn)}${drawHairBefore(looks, `url(#${id}hair)`, pose.turn)}${looks.hasHat ? drawHat(colours) : ""}</g>`;
  return `<defs>${fade("skin", skin)}${fade("hair", hair)}${fade("cloth", clothes)}</defs>${drawBody(looks, colours, id)}${head}`;
}

type FigureColours = { skin: string; hair: string; clothes: string; ink: string };

function drawBody({ garment }: FigureLooks, { skin, clothes, ink }: FigureColours, id: string): string {
  const neck = `<path d="M84 118L116 118L119 156Q100 170 81 156Z" fill="${mixColours(skin, ink, 0.2)}"/>`;
  const trunk = `<path d="M18 240C18 192 34 170 62 160Q82 154 84 148Q100 164 116 148Q118 154 138 160C166 170 182 192 182 240Z" fill="url(#${id}cloth)"/>`;
  const [deep, pale] = [mixColours(clothes, ink, 0.35), mixColours(clothes, "#ffffff", 0.2)];
  switch (garment) {
    case "coat":
      return `${neck}${trunk}<path d="M84 148L100 196L116 148L112 146L100 172L88 146Z" fill="${mixColours("#efe6d6", ink, 0.12)}"/><path d="M84 148L66 160L84 196L100 240L100 196ZM116 148L134 160L116 196L100 240L100 196Z" fill="${deep}"/>`;
    case "suit":
      return `${neck}${trunk}<path d="M82 152L100 214L118 152L112 148L100 166L88 148Z" fill="#e9e4da"/><path d="M96 168L104 168L107 206L100 216L93 206Z" fill="${mixColours("#7a2f36", ink, 0.1)}"/><path d="M82 152L64 160L76 178L72 186L100 240L100 214ZM118 152L136 160L124 178L128 186L100 240L100 214Z" fill="${deep}"/>`;
    case "dress":
      return `<path d="M84 118L116 118L121 160Q128 176 100 192Q72 176 79 160Z" fill="${mixColours(skin, ink, 0.08)}"/><path d="M18 240C18 192 34 172 58 163L70 160Q78 190 100 192Q122 190 130 160L142 163C166 172 182 192 182 240Z" fill="url(#${id}cloth)"/><path d="M70 160Q78 190 100 192Q122 190 130 160" stroke="${pale}" stroke-width="2.5" fill="none"/>`;
    case "sweater":
      return `${neck}${trunk}<path d="M80 150Q100 172 120 150L124 155Q100 182 76 155Z" fill="${deep}"/>`;
  }
}

function drawEars({ skin, ink }: FigureColours): string {
  const fill = mixColours(skin, ink, 0.14);
  return `<ellipse cx="66" cy="93" rx="5" ry="10" fill="${fill}"/><ellipse cx="134" cy="93" rx="5" ry="10" fill="${fill}"/>`;
}

function drawFace(looks: FigureLooks, { skin, hair, ink }: FigureColours, turn: number): string {
  const shift = turn * 6;
  const at = (x: number): number => Math.round((x + shift) * 10) / 10;
  const brow =
    looks.hairstyle === "bald" && looks.beard === "none" ? mixColours(skin, ink, 0.5) : mixColours(hair, ink, 0.35);
  const eyes = `<g fill="${ink}"><ellipse cx="${at(86)}" cy="91" rx="3.4" ry="3.1"/><ellipse cx="${at(114)}" cy="91" rx="3.4" ry="3.1"/></g><g fill="#ffffff" fill-opacity="0.8"><circle cx="${at(87.2)}" cy="90" r="1"/><circle cx="${at(115.2)}" cy="90" r="1"/></g>`;
  const brows = `<g stroke="${brow}" stroke-width="2.8" stroke-linecap="round" fill="none"><path d="M${at(79)} 83Q${at(86)} 79 ${at(93)} 82"/><path d="M${at(107)} 82Q${at(114)} 79 ${at(121)} 83"/></g>`;
  const nose = `<path d="M${at(100)} 92Q${at(96.5)} 104 ${at(97)} 107Q${at(100)} 110 ${at(103.5)} 107" stroke="${mixColours(skin, ink, 0.4)}" stroke-width="1.9" fill="none" stroke-linecap="round"/>`;
  const blush = `<g fill="#c8584a" fill-opacity="0.12"><circle cx="${at(80)}" cy="106" r="7"/><circle cx="${at(120)}" cy="106" r="7"/></g>`;
  const lines = looks.isOld
    ? `<g stroke="${mixColours(skin, ink, 0.35)}" stroke-width="1.2" fill="none"><path d="M${at(84)} 103Q${at(80)} 112 ${at(83)} 119"/><path d="M${at(116)} 103Q${at(120)} 112 ${at(117)} 119"/><path d="M${at(86)} 70H${at(114)}"/></g>`
    : "";
  const mouth = `<path d="M${at(90)} 119Q${at(100)} 115.5 ${at(110)} 119Q${at(100)} 126 ${at(90)} 119Z" fill="${mixColours("#9c4540", skin, 0.2)}"/><path d="M${at(90)} 119Q${at(100)} 120.5 ${at(110)} 119" stroke="${mixColours("#5f2624", ink, 0.3)}" stroke-width="1.2" fill="none"/>`;
  return `${blush}${lines}${drawBeard(looks, hair, at)}${eyes}${brows}${nose}${mouth}${looks.hasGlasses ? drawGlasses(ink, at) : ""}`;
}

function drawBeard({ beard }: FigureLooks, hair: string, at: (x: number) => number): string {
  const moustache = `<path d="M${at(84)} 118Q${at(90)} 110 ${at(100)} 112Q${at(110)} 110 ${at(116)} 118Q${at(108)} 116 ${at(100)} 116Q${at(92)} 116 ${at(84)} 118Z" fill="${hair}"/>`;
  if (beard === "none") return "";
  if (beard === "moustache") return moustache;
  return `<path d="M66 88C66 120 78 146 100 149C122 146 134 120 134 88Q130 108 ${at(119)} 111Q${at(108)} 106 ${at(100)} 109Q${at(92)} 106 ${at(81)} 111Q70 108 66 88Z" fill="${hair}"/>${moustache}`;
}

function drawGlasses(ink: string, at: (x: number) => number): string {
  return `<g stroke="${ink}" stroke-width="2" fill="#ffffff" fill-opacity="0.12"><circle cx="${at(86)}" cy="92" r="10"/><circle cx="${at(114)}" cy="92" r="10"/><path d="M${at(96)} 90Q${at(100)} 87 ${at(104)} 90" fill="none"/></g>`;
}

/** The hair behind the head. */
function drawHairBehind({ hairstyle }: FigureLooks, { hair, ink }: FigureColours): string {
  const fill = mixColours(hair, ink, 0.3);
  switch (hairstyle) {
    case "long":
      return `<path d="M60 88C54 46 78 30 101 30C126 30 147 48 140 90C138 120 146 150 152 172Q128 180 122 150L78 150Q72 180 48 172C56 150 62 120 60 88Z" fill="${fill}"/>`;
    case "bun":
      return `<circle cx="100" cy="27" r="17" fill="${fill}"/><path d="M62 92C58 50 78 34 100 34C122 34 142 50 138 92L130 112H70Z" fill="${fill}"/>`;
    case "curly":
      return [
        [66, 66, 19],
        [60, 88, 17],
        [134, 66, 19],
        [140, 88, 17],
        [82, 44, 20],
        [118, 44, 20],
        [100, 37, 19],
        [64, 108, 13],
        [136, 108, 13],
      ]
        .map(([x, y, radius]) => `<circle cx="${x}" cy="${y}" r="${radius}" fill="${fill}"/>`)
        .join("");
    case "short":
    case "bald":
      return "";
  }
}

function drawHairBefore({ hairstyle }: FigureLooks, fill: string, turn: number): string {
  const part = Math.round(100 + (turn >= 0 ? 1 : -1) * 12);
  switch (hairstyle) {
    case "bald":
      return "";
    case "short":
      return `<path d="M63 90C58 48 80 33 101 33C124 33 142 48 137 90Q134 74 128 66Q112 70 ${part} 58Q88 70 72 67Q66 74 63 90Z" fill="${fill}"/>`;
    case "curly":
      return `<path d="M66 80Q64 54 84 48Q100 36 118 48Q136 54 134 80Q128 62 114 64Q104 56 92 63Q74 60 66 80Z" fill="${fill}"/>`;
    case "long":
    case "bun":
      return `<path d="M62 96C57 50 78 33 101 33C124 33 143 50 138 96Q133 72 ${part} 55Q70 68 62 96Z" fill="${fill}"/>`;
  }
}

function drawHat({ clothes, ink }: FigureColours): string {
  const felt = mixColours(clothes, ink, 0.45);
  return `<path d="M70 56Q70 20 100 20Q130 20 130 56Z" fill="${felt}"/><path d="M50 58Q100 44 150 58Q150 66 100 60Q50 66 50 58Z" fill="${mixColours(felt, ink, 0.3)}"/>`;
}
