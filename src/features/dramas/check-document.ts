import type { AccountId } from "../../lib/ids.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import type { Files } from "../files/index.ts";
import type { DramaDocument, Line, RolesDocument, ScriptDocument, StoryboardDocument } from "./drama-documents.ts";
import { estimateSpeakingSeconds } from "./speaking-time.ts";

type DocumentChecks = {
  accountId: AccountId;
  /** The voices of the speech model. */
  voices: readonly string[];
  secondsMax: number;
  /** The request field that contains the document, for error messages. */
  root: string;
};

/**
 * Checks what a schema cannot express about a document that a caller may have changed. Throws an error that names the
 * place.
 */
export async function checkDocument(
  files: Pick<Files, "getFile">,
  document: DramaDocument,
  checks: DocumentChecks,
): Promise<void> {
  switch (document.object) {
    case "drama.script":
      return checkScript(document, checks.root);
    case "drama.roles":
      checkScript(document.script, `${checks.root}.script`);
      return await checkCast(files, document, checks);
    case "drama.storyboard":
      checkShots(document, checks);
      await checkCast(files, document, checks);
      return await checkKeyframes(files, document, checks);
  }
}

function checkScript({ scenes }: ScriptDocument, place: string): void {
  requireDifferent(
    scenes.map(({ id }) => id),
    (index) => `${place}.scenes[${index}].id`,
  );
}

async function checkCast(
  files: Pick<Files, "getFile">,
  document: RolesDocument | StoryboardDocument,
  { voices, accountId, root }: DocumentChecks,
): Promise<void> {
  const { roles } = document;
  requireDifferent(
    roles.map(({ name }) => name),
    (index) => `${root}.roles[${index}].name`,
  );
  requireVoice(document.narrator_voice, `${root}.narrator_voice`, voices);
  for (const [index, role] of roles.entries()) {
    requireVoice(role.voice, `${root}.roles[${index}].voice`, voices);
    if (role.reference_file_id === null) continue;
    const param = `${root}.roles[${index}].reference_file_id`;
    await files.getFile(accountId, role.reference_file_id, { param, kinds: ["image"] });
  }
  if (document.object === "drama.storyboard") return;
  for (const [index, scene] of document.script.scenes.entries()) {
    requireKnownSpeakers(scene.lines, roles, `${root}.script.scenes[${index}].lines`);
  }
}

function checkShots({ shots, roles }: StoryboardDocument, { secondsMax, root }: DocumentChecks): void {
  requireDifferent(
    shots.map(({ id }) => id),
    (index) => `${root}.shots[${index}].id`,
  );
  for (const [index, shot] of shots.entries()) {
    requireKnownSpeakers(shot.lines, roles, `${root}.shots[${index}].lines`);
    for (const [position, name] of shot.characters.entries()) {
      requireRole(name, roles, `${root}.shots[${index}].characters[${position}]`);
    }
  }
  const seconds = Math.ceil(shots.reduce((sum, shot) => sum + estimateShotSeconds(shot), 0));
  if (seconds <= secondsMax) return;
  refuse(
    `${root}.shots`,
    `The shots take about ${seconds} seconds. This model supports at most ${secondsMax} seconds.`,
  );
}

/** The length of its lines; without lines, its planned length. */
export function estimateShotSeconds({ duration, lines }: { duration: number; lines: readonly Line[] }): number {
  const spoken = lines.reduce((sum, { text }) => sum + estimateSpeakingSeconds(text), 0);
  return lines.length === 0 ? duration : spoken;
}

async function checkKeyframes(
  files: Pick<Files, "getFile">,
  { shots }: StoryboardDocument,
  { accountId, root }: DocumentChecks,
): Promise<void> {
  for (const [index, { image_file_id: fileId }] of shots.entries()) {
    if (fileId === null) continue;
    await files.getFile(accountId, fileId, { param: `${root}.shots[${index}].image_file_id`, kinds: ["image"] });
  }
}

function requireKnownSpeakers(lines: readonly Line[], roles: readonly { name: string }[], place: string): void {
  for (const [index, { speaker }] of lines.entries()) {
    if (speaker !== null) requireRole(speaker, roles, `${place}[${index}].speaker`);
  }
}

function requireRole(name: string, roles: readonly { name: string }[], param: string): void {
  if (roles.some((role) => role.name === name)) return;
  const names = roles.map((role) => role.name).join(", ");
  refuse(param, `This document has no role ${name}. Its roles are: ${names === "" ? "none" : names}.`);
}

function requireVoice(voice: string, param: string, voices: readonly string[]): void {
  if (voices.length === 0 || voices.includes(voice)) return;
  refuse(param, `\`${param}\` must be one of these for this model: ${voices.join(", ")}.`);
}

/** Case-insensitive, because people would confuse such names. */
export function requireDifferent(names: readonly string[], place: (index: number) => string): void {
  const seen = new Map<string, number>();
  for (const [index, name] of names.entries()) {
    const folded = foldName(name);
    const first = seen.get(folded);
    if (first !== undefined) refuse(place(index), `${name} occurs twice. Use a unique name for each.`);
    seen.set(folded, index);
  }
}

export function foldName(name: string): string {
  return name.normalize("NFKC").trim().replace(/\s+/g, " ").toLocaleLowerCase("en");
}

function refuse(param: string, message: string): never {
  throw new AppError("invalid_parameter", message, { param });
}
