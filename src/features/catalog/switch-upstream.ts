import type { Clock } from "../../lib/clock.ts";
import { listNearest } from "../../lib/nearest-word.ts";
import { environmentSecrets } from "../../platform/config/secrets.ts";
import { type Database, inTransaction } from "../../platform/database/database.ts";
import { AppError } from "../../platform/errors/app-error.ts";
import { findCatalog, lockCatalog } from "./catalog-store.ts";
import { listRouteTargets } from "./route-target.ts";
import {
  isInForce,
  listStrandedModels,
  listSubjectKinds,
  listSubjects,
  type SwitchMode,
  type UpstreamSwitch,
} from "./upstream-switch.ts";
import { endSwitches, insertSwitch, listSwitches } from "./upstream-switch-store.ts";

type SwitchDependencies = { database: Database; clock: Clock };
type SwitchRequest = { subject: string; mode: SwitchMode; reason: string; actor: string; endsAt: Date | null };

const reasonCharactersMax = 500;
const suggestionsMax = 3;

/** Takes a provider, a route or a key out of service. Also returns the models without another route. */
export async function switchOff(
  { database, clock }: SwitchDependencies,
  { subject, mode, reason, actor, endsAt }: SwitchRequest,
): Promise<{ made: UpstreamSwitch; strandedModels: string[] }> {
  const now = clock.now();
  if (reason.trim() === "" || reason.length > reasonCharactersMax) {
    throw new AppError("invalid_parameter", `--reason must have 1 to ${reasonCharactersMax} characters.`);
  }
  if (endsAt !== null && endsAt <= now) throw new AppError("invalid_parameter", "--until must be in the future.");
  return await inTransaction(database, async (tx) => {
    await lockCatalog(tx);
    const catalog = await findCatalog(tx);
    const providerById = new Map((catalog?.providers ?? []).map((provider) => [provider.id, provider]));
    const listTargets = (model: Parameters<typeof listRouteTargets>[0]) =>
      listRouteTargets(model, providerById, environmentSecrets);
    const targets = (catalog?.models ?? []).flatMap(listTargets);
    const [kind, ...others] = listSubjectKinds(subject, targets);
    if (kind === undefined) throw createUnknownSubject(subject, listSubjects(targets));
    if (others.length > 0) {
      const message = `${subject} names a ${[kind, ...others].join(" and a ")}. Rename one of them in the catalog.`;
      throw new AppError("invalid_parameter", message);
    }
    const made = { kind, subject, mode, reason: reason.trim(), createdAt: now, createdBy: actor, endsAt };
    await endSwitches(tx, { subject, now, actor });
    await insertSwitch(tx, made);
    const inForce = (await listSwitches(tx)).filter((one) => isInForce(one, now));
    return { made, strandedModels: catalog === null ? [] : listStrandedModels(catalog, listTargets, inForce) };
  });
}

/** Puts it back into service. Works for subjects that the catalog no longer has. */
export async function switchOn(
  { database, clock }: SwitchDependencies,
  { subject, actor }: { subject: string; actor: string },
): Promise<void> {
  await inTransaction(database, async (tx) => {
    await lockCatalog(tx);
    const known = await listSwitches(tx);
    const now = clock.now();
    if (!known.some((one) => one.subject === subject && isInForce(one, now))) {
      const off = known.filter((one) => isInForce(one, now)).map((one) => one.subject);
      const hint = off.length === 0 ? "Nothing is disabled." : `Disabled or draining: ${off.join(", ")}.`;
      throw new AppError("not_found", `${subject} is not disabled. ${hint}`);
    }
    await endSwitches(tx, { subject, now, actor });
  });
}

/** The switches in force. */
export async function listActiveSwitches({ database, clock }: SwitchDependencies): Promise<UpstreamSwitch[]> {
  const now = clock.now();
  return (await listSwitches(database)).filter((one) => isInForce(one, now));
}

function createUnknownSubject(subject: string, known: readonly string[]): AppError {
  const nearest = listNearest(subject, known, suggestionsMax);
  const hint = nearest.length === 0 ? "" : ` The nearest names are ${nearest.join(", ")}.`;
  return new AppError(
    "not_found",
    `The catalog has no route with the provider, the provider/upstream model or the key ${subject}.${hint} See: npm run -s sluice -- upstream list`,
  );
}
