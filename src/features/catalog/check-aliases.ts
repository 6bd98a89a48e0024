import type { CatalogFile, ReportProblem } from "./catalog-file.ts";

/** Each name must mean one model: an alias may be neither an id nor another alias. */
export function checkAliases(
  { models }: CatalogFile,
  { idPattern, idRule }: { idPattern: RegExp; idRule: string },
  report: ReportProblem,
): void {
  const ids = new Set(models.map(({ id }) => id));
  const owners = new Map<string, string>();
  for (const [index, { id, aliases = [] }] of models.entries()) {
    for (const [position, alias] of aliases.entries()) {
      const path = ["models", index, "aliases", position];
      const owner = owners.get(alias);
      if (!idPattern.test(alias)) report(path, `"${alias}" is not a valid alias. ${idRule}`);
      else if (ids.has(alias)) report(path, `"${alias}" is the id of a model. Choose another alias, or remove it.`);
      else if (owner !== undefined) report(path, `${owner} already has the alias ${alias}. Choose another.`);
      else owners.set(alias, id);
    }
  }
}
