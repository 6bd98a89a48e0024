import { AppError } from "../../platform/errors/app-error.ts";
import { foldName } from "./check-document.ts";
import type { DramaDocument } from "./drama-documents.ts";
import type { DramaRequest } from "./drama-request.ts";

/** A document with the images that the caller sends along: whoever has one looks like it from here on. */
export function applyCharacters(document: DramaDocument, characters: DramaRequest["characters"]): DramaDocument {
  if (document.object === "drama.script") return document;
  const { roles } = document;
  for (const [index, { name }] of characters.entries()) {
    if (roles.some((role) => foldName(role.name) === foldName(name))) continue;
    const names = roles.map((role) => role.name).join(", ");
    const message = `There is no role ${name} in the document; its roles are: ${names === "" ? "none" : names}.`;
    throw new AppError("invalid_parameter", message, { param: `characters[${index}].name` });
  }
  const changed = roles.map((role) => {
    const given = characters.find(({ name }) => foldName(name) === foldName(role.name));
    return { ...role, reference_file_id: given?.referenceFileId ?? role.reference_file_id };
  });
  return { ...document, roles: changed };
}
