import type { AskWriter } from "./ask-writer.ts";
import { foldName } from "./check-document.ts";
import { cut } from "./compose-script.ts";
import { type RolesAnswer, type RolesQuestion, rolesAnswerSchema } from "./drama-answers.ts";
import { type Role, type RolesDocument, rolesMax, type ScriptDocument } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

const instructions = `You are a casting director. You are given a screenplay, the names of its characters and a list of voices. Describe
everybody who is in it, whether they speak or not, so that every artist draws the same person. Give each
role one of the voices that suits it, a different one for each where there are enough, and the narrator another.`;

/** The people of a script, their appearance and their voices. */
export async function composeRoles(
  ask: AskWriter,
  script: ScriptDocument,
  {
    request,
    voices,
    modelId,
    signal,
  }: { request: DramaRequest; voices: readonly string[]; modelId: string; signal: AbortSignal },
): Promise<RolesDocument> {
  const facts: RolesQuestion = {
    title: script.title,
    language: script.language,
    voices,
    characters: request.characters.map(({ name }) => name),
    scenes: script.scenes,
  };
  const answer = await ask({ modelId, name: "drama_roles", schema: rolesAnswerSchema, instructions, facts }, signal);
  return completeRoles(answer, { script, characters: request.characters, voices });
}

type CastSource = { script: ScriptDocument; characters: DramaRequest["characters"]; voices: readonly string[] };

/** Completes the model's response: every speaker and every named character gets a role and a voice. */
export function completeRoles(answer: RolesAnswer, { script, characters, voices }: CastSource): RolesDocument {
  const described = new Map(answer.roles.map((role) => [foldName(cut(role.name, 100)), role]));
  const speakers = script.scenes.flatMap(({ lines }) =>
    lines.flatMap(({ speaker }) => (speaker === null ? [] : speaker)),
  );
  const named = [...characters.map(({ name }) => name), ...speakers, ...answer.roles.map(({ name }) => cut(name, 100))];
  const names = new Map<string, string>();
  for (const name of named) {
    // The first spelling of a name wins.
    if (name !== "" && names.size < rolesMax && !names.has(foldName(name))) names.set(foldName(name), name);
  }
  const chooseVoice = createVoiceChooser(voices);
  const roles = [...names].map(([folded, name]): Role => {
    const role = described.get(folded);
    return {
      name,
      description: cut(role?.description ?? "", 2000),
      appearance: cut(role?.appearance ?? "", 2000),
      voice: chooseVoice(role?.voice),
      reference_file_id: characters.find((character) => foldName(character.name) === folded)?.referenceFileId ?? null,
    };
  });
  return {
    object: "drama.roles",
    script: { ...script, scenes: script.scenes.map((scene) => unifySpeakers(scene, names)) },
    narrator_voice: chooseVoice(answer.narrator_voice),
    roles,
  };
}

/** Returns the requested voice if it exists, or the least used one. */
function createVoiceChooser(voices: readonly string[]): (asked: string | undefined) => string {
  const used = new Map<string, number>(voices.map((voice) => [voice, 0]));
  return (asked) => {
    const [least = "default"] = [...used].toSorted(([, a], [, b]) => a - b).map(([voice]) => voice);
    const voice = asked !== undefined && used.has(asked) ? asked : least;
    used.set(voice, (used.get(voice) ?? 0) + 1);
    return voice;
  };
}

/** Unifies spellings such as `ANNA` and `Anna`; the narrator speaks lines without a role. */
function unifySpeakers<S extends ScriptDocument["scenes"][number]>(scene: S, names: ReadonlyMap<string, string>): S {
  const lines = scene.lines.map((line) =>
    line.speaker === null ? line : { ...line, speaker: names.get(foldName(line.speaker)) ?? null },
  );
  return { ...scene, lines };
}
