import type { Clock } from "../../lib/clock.ts";
import { remember } from "../../lib/remember.ts";
import type { Database } from "../../platform/database/database.ts";
import { type LiveCatalog, listOfferedModels, newcomer, type OfferedModel } from "../catalog/index.ts";
import type { Incident } from "./incident.ts";
import { listIncidents } from "./incident-store.ts";
import {
  chooseWorst,
  type DayState,
  judgeDay,
  judgeRecent,
  presentUptime,
  type ServiceState,
} from "./judge-traffic.ts";
import { listDays, sumSlots, type TrafficDay, type TrafficKind, type TrafficSum } from "./traffic-store.ts";

const daysShown = 90;
const dayMs = 24 * 60 * 60_000;
const rememberedMs = 20_000;
const recentMs = 20 * 60_000;
const incidentsMax = 50;

export type UptimeLine = {
  id: string;
  name: string;
  state: ServiceState;
  /** Of all days shown, in percent; `null` with too few calls. */
  uptime: number | null;
  /** Oldest first, the last one is today (UTC). */
  days: readonly { state: DayState; uptime: number | null }[];
};

export type StatusView = {
  state: ServiceState;
  at: Date;
  firstDay: string;
  models: readonly (UptimeLine & { type: string })[];
  endpoints: readonly UptimeLine[];
  /** Newest first: open ones, and those of the days shown. */
  incidents: readonly Incident[];
};

export type StatusPage = { read(): Promise<StatusView> };

type StatusPageOptions = { database: Database; clock: Clock; catalog: Pick<LiveCatalog, "current"> };

/** What everybody may see, at most half a minute old: a view costs no query. */
export function createStatusPage({ database, clock, catalog }: StatusPageOptions): StatusPage {
  async function compose(): Promise<StatusView> {
    const at = clock.now();
    const firstDay = presentDay(new Date(at.getTime() - (daysShown - 1) * dayMs));
    const days = await listDays(database, firstDay);
    const recentSince = new Date(at.getTime() - recentMs);
    const recent = {
      model: indexSums(await sumSlots(database, "model", recentSince)),
      endpoint: indexSums(await sumSlots(database, "endpoint", recentSince)),
    };
    const incidents = await listIncidents(database, {
      changedSince: new Date(at.getTime() - daysShown * dayMs),
      limit: incidentsMax,
    });
    const offered = listOfferedModels(catalog.current(), newcomer, at);
    const publicIncidents = hideModels(incidents, new Set(offered.map(({ model }) => model.id)));
    const open = publicIncidents.filter(({ endedAt }) => endedAt === null);
    const models = offered.map(({ model, status }) => ({
      ...describeLine({ id: model.id, name: model.name }, { kind: "model", days, firstDay }),
      type: model.type,
      state: chooseWorst([
        judgeOffered(status),
        judgeRecent(recent.model.get(model.id) ?? noCalls),
        ...open.flatMap(({ modelIds }) => (modelIds.includes(model.id) ? ["degraded" as const] : [])),
      ]),
    }));
    const wires = [...new Set(days.filter(({ kind }) => kind === "endpoint").map(({ subject }) => subject))];
    const endpoints = wires.map((wire) => ({
      ...describeLine({ id: wire, name: wire }, { kind: "endpoint", days, firstDay }),
      state: judgeRecent(recent.endpoint.get(wire) ?? noCalls),
    }));
    return {
      state: decideState({ models, endpoints, open }),
      ...{ at, firstDay, models, endpoints },
      incidents: publicIncidents,
    };
  }

  return { read: remember(clock, rememberedMs, compose) };
}

/** Leaves out models that a new account does not see, and incidents of such models alone. */
function hideModels(incidents: readonly Incident[], shown: ReadonlySet<string>): Incident[] {
  return incidents.flatMap((incident) => {
    const modelIds = incident.modelIds.filter((id) => shown.has(id));
    return incident.modelIds.length > 0 && modelIds.length === 0 ? [] : [{ ...incident, modelIds }];
  });
}

const noCalls = { calls: 0, failed: 0 };

function indexSums(sums: readonly TrafficSum[]): Map<string, TrafficSum> {
  return new Map(sums.map((sum) => [sum.subject, sum]));
}

function judgeOffered(status: OfferedModel["status"]): ServiceState {
  return status === "unavailable" ? "down" : "ok";
}

/** Down only if nothing works: one model of many is a degradation. */
function decideState({
  models,
  endpoints,
  open,
}: {
  models: readonly { state: ServiceState }[];
  endpoints: readonly { state: ServiceState }[];
  open: readonly Incident[];
}): ServiceState {
  const states = [...models, ...endpoints].map(({ state }) => state);
  if (models.length > 0 && models.every(({ state }) => state === "down")) return "down";
  return states.some((state) => state !== "ok") || open.length > 0 ? "degraded" : "ok";
}

function describeLine(
  { id, name }: { id: string; name: string },
  { kind, days, firstDay }: { kind: TrafficKind; days: readonly TrafficDay[]; firstDay: string },
): Omit<UptimeLine, "state"> {
  const own = new Map(days.filter((day) => day.kind === kind && day.subject === id).map((day) => [day.day, day]));
  const startMs = Date.parse(`${firstDay}T00:00:00Z`);
  const total = { calls: 0, failed: 0 };
  const shown = Array.from({ length: daysShown }, (_, index) => {
    const sum = own.get(presentDay(new Date(startMs + index * dayMs))) ?? noCalls;
    total.calls += sum.calls;
    total.failed += sum.failed;
    return { state: judgeDay(sum), uptime: presentUptime(sum) };
  });
  return { id, name, uptime: presentUptime(total), days: shown };
}

function presentDay(moment: Date): string {
  return moment.toISOString().slice(0, 10);
}
