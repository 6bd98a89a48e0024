import { measureShot } from "./estimate-drama.ts";

/** See docs/api/drama-documents.json. */
export type Line = { speaker: string | null; text: string };
type Role = { name: string; appearance: string; reference_file_id: string | null };
export type Shot = {
  id: string;
  scene: string;
  prompt: string;
  camera: string;
  duration: number;
  characters: string[];
  lines: Line[];
  image_file_id: string | null;
};
export type Storyboard = {
  object: "drama.storyboard";
  title: string;
  aspect_ratio: string;
  roles: Role[];
  shots: Shot[];
};

export const shotSeconds = { min: 1, max: 30 };
const shotsMax = 80;
const speakersMax = 8;

/** A generated or edited storyboard; `null` for anything else. */
export function parseStoryboard(value: unknown): Storyboard | null {
  const document = value as Partial<Storyboard> | null;
  if (typeof document !== "object" || document?.object !== "drama.storyboard") return null;
  return Array.isArray(document.shots) && document.shots.length > 0 ? (document as Storyboard) : null;
}

export function changeShot(board: Storyboard, id: string, part: Partial<Shot>): Storyboard {
  return { ...board, shots: board.shots.map((shot) => (shot.id === id ? showSpeakers({ ...shot, ...part }) : shot)) };
}

/** Adds speakers to the visible characters. */
function showSpeakers(shot: Shot): Shot {
  const speakers = shot.lines.flatMap(({ speaker }) => speaker ?? []);
  return { ...shot, characters: [...new Set([...shot.characters, ...speakers])].slice(0, speakersMax) };
}

export function moveShot(board: Storyboard, id: string, to: number): Storyboard {
  const shot = board.shots.find((each) => each.id === id);
  if (shot === undefined || to < 0 || to >= board.shots.length) return board;
  const others = board.shots.filter((each) => each.id !== id);
  return { ...board, shots: others.toSpliced(to, 0, shot) };
}

/** A video needs at least one shot. */
export function removeShot(board: Storyboard, id: string): Storyboard {
  return board.shots.length === 1 ? board : { ...board, shots: board.shots.filter((shot) => shot.id !== id) };
}

/** A new shot of the same scene, without an image. */
export function addShot(board: Storyboard, afterId: string): { board: Storyboard; id: string } | null {
  const position = board.shots.findIndex(({ id }) => id === afterId);
  const before = board.shots[position];
  if (before === undefined || board.shots.length >= shotsMax) return null;
  const id = nameShot(board);
  const shot: Shot = { ...before, id, prompt: before.prompt, camera: "", duration: 3, lines: [], image_file_id: null };
  return { board: { ...board, shots: board.shots.toSpliced(position + 1, 0, shot) }, id };
}

function nameShot({ shots }: Storyboard): string {
  const taken = new Set(shots.map(({ id }) => id));
  let number = shots.length + 1;
  while (taken.has(`shot-${number}`)) number += 1;
  return `shot-${number}`;
}

/** A problem by shot. The API validates the rest. */
export function findShotProblem({ prompt, lines }: Shot): string | null {
  if (prompt.trim() === "") return "Describe what the shot shows.";
  return lines.some(({ text }) => text.trim() === "") ? "Enter the line's text, or remove the line." : null;
}

export function describeShot(shot: Shot): string {
  const [first] = shot.lines;
  return first === undefined ? shot.prompt : `${first.speaker ?? "Narrator"}: ${first.text}`;
}

export function measureRounded(shot: Shot): number {
  return Math.round(measureShot(shot) * 10) / 10;
}

/** The image request for a shot: prompt, camera and characters. */
export function buildShotImage(
  shot: Shot,
  { roles, aspect_ratio: ratio }: Pick<Storyboard, "roles" | "aspect_ratio">,
  model: {
    id: string;
    capabilities: readonly string[];
    limits: { sizes?: readonly string[]; max_input_images?: number };
  },
): Record<string, unknown> {
  const seen = shot.characters.flatMap((name) => roles.find((role) => role.name === name) ?? []);
  const people = seen.map(({ name, appearance }) => (appearance === "" ? name : `${name}: ${appearance}`));
  const prompt = [shot.prompt, shot.camera, ...people, "No captions, no text."]
    .filter((part) => part !== "")
    .join("\n");
  const references = seen.flatMap(({ reference_file_id: id }) => id ?? []);
  const countMax = model.capabilities.includes("image_to_image") ? (model.limits.max_input_images ?? 1) : 0;
  const size = chooseSize(model.limits.sizes ?? [], ratio);
  return {
    model: model.id,
    prompt,
    ...(size === undefined ? {} : { size }),
    ...(references.length === 0 || countMax === 0 ? {} : { input_images: references.slice(0, countMax) }),
  };
}

/** The size with the closest aspect ratio. */
function chooseSize(sizes: readonly string[], ratio: string): string | undefined {
  const wanted = measureRatio(ratio, ":");
  const distance = (size: string) => Math.abs(Math.log(measureRatio(size, "x") / wanted));
  return sizes.toSorted((a, b) => distance(a) - distance(b))[0];
}

function measureRatio(text: string, sign: string): number {
  const [width = 1, height = 1] = text.split(sign).map(Number);
  return width / height;
}
