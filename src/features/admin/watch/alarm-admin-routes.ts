import { inTransaction } from "../../../platform/database/database.ts";
import { AppError } from "../../../platform/errors/app-error.ts";
import type { HttpServer } from "../../../platform/http/create-http-server.ts";
import { pathParams } from "../../../platform/http/path-params.ts";
import {
  type Alarm,
  acknowledgeAlarm,
  changeRule,
  describeRules,
  findAlarm,
  listAlarmEvents,
  listAlarms,
  listNotifications,
  silenceAlarm,
} from "../../alarms/index.ts";
import { appendAudit } from "../../audit/index.ts";
import { presentPage } from "../../usage/index.ts";
import type { AdminDependencies } from "../admin-dependencies.ts";
import { type Acting, getActing, nameActor } from "../edge/admin-caller.ts";
import { describeAdminEndpoint } from "../edge/admin-endpoint-table.ts";
import { parseMoment } from "../edge/moment-field.ts";
import {
  acknowledgeSchema,
  alarmDetailSchema,
  alarmListSchema,
  alarmQuerySchema,
  alarmSchema,
  listStates,
  presentAlarm,
  presentAlarmDetail,
  presentRule,
  ruleChangeSchema,
  ruleListSchema,
  ruleSchema,
  silenceSchema,
} from "./alarm-admin-schema.ts";

const params = pathParams({ alarm_id: "alarm" });
const usualLimit = 20;

type WatchDependencies = Pick<AdminDependencies, "database" | "clock">;

export function addAlarmAdminRoutes(http: HttpServer, dependencies: WatchDependencies): void {
  addReading(http, dependencies);
  addChanges(http, dependencies);
  addRules(http, dependencies);
}

function addReading(http: HttpServer, { database }: WatchDependencies): void {
  const list = describeAdminEndpoint("listAlarms");
  http.get(
    "/alarms",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List alarms",
        querystring: alarmQuerySchema,
        response: { 200: alarmListSchema, ...list.errors },
      },
    },
    async ({ query: { status = "open", rule = null, limit = usualLimit, after = null } }) => {
      const found = await listAlarms(database, { states: listStates(status), rule, after, limit: limit + 1 });
      return presentPage(found, limit, presentAlarm);
    },
  );
  const get = describeAdminEndpoint("getAlarm");
  http.get(
    "/alarms/:alarm_id",
    {
      config: get.config,
      schema: {
        ...get.schema,
        summary: "Get an alarm with its history",
        params,
        response: { 200: alarmDetailSchema, ...get.errors },
      },
    },
    async ({ params: { alarm_id: id } }) => {
      const alarm = await findAlarm(database, id);
      if (alarm === null || alarm.state === "pending") throw new AppError("not_found", "There is no such alarm.");
      const history = await listAlarmEvents(database, id);
      return presentAlarmDetail(alarm, history, await listNotifications(database, id));
    },
  );
}

function addChanges(http: HttpServer, { database, clock }: WatchDependencies): void {
  /** The change and its audit entry commit together. */
  async function change(
    id: string,
    { action, acting, note }: { action: string; acting: Acting; note: string | null },
    work: (tx: typeof database, actor: string) => Promise<Alarm>,
  ) {
    return await inTransaction(database, async (tx) => {
      const before = await findAlarm(tx, id);
      const alarm = await work(tx, nameActor(acting.actor));
      await appendAudit(tx, {
        ...{ ...acting, action, subject: id, accountId: null, reason: note },
        before: { status: before?.state ?? null },
        after: { status: alarm.state, silenced_until: alarm.silencedUntil?.toISOString() ?? null },
      });
      return presentAlarm(alarm);
    });
  }

  const acknowledge = describeAdminEndpoint("acknowledgeAlarm", ["already_ended"]);
  http.post(
    "/alarms/:alarm_id/acknowledge",
    {
      config: acknowledge.config,
      schema: {
        ...acknowledge.schema,
        summary: "Acknowledge an alarm",
        description: "You take care of it: nothing more is reported until it ends.",
        params,
        body: acknowledgeSchema,
        response: { 200: alarmSchema, ...acknowledge.errors },
      },
    },
    async (request) => {
      const { note = null } = request.body;
      const { alarm_id: id } = request.params;
      return await change(id, { action: "alarm.acknowledged", acting: getActing(request), note }, (tx, actor) =>
        acknowledgeAlarm({ database: tx, clock }, id, { actor, note }),
      );
    },
  );
  const silence = describeAdminEndpoint("silenceAlarm", ["already_ended"]);
  http.post(
    "/alarms/:alarm_id/silence",
    {
      config: silence.config,
      schema: {
        ...silence.schema,
        summary: "Silence an alarm",
        description: "Nothing is reported until then. If its rule is still met, it fires again.",
        params,
        body: silenceSchema,
        response: { 200: alarmSchema, ...silence.errors },
      },
    },
    async (request) => {
      const { note = null } = request.body;
      const until = parseMoment(request.body.until, "until");
      const { alarm_id: id } = request.params;
      return await change(id, { action: "alarm.silenced", acting: getActing(request), note }, (tx, actor) =>
        silenceAlarm({ database: tx, clock }, id, { actor, note, until: until ?? clock.now() }),
      );
    },
  );
}

function addRules(http: HttpServer, { database, clock }: WatchDependencies): void {
  const list = describeAdminEndpoint("listAlarmRules");
  http.get(
    "/alarm-rules",
    {
      config: list.config,
      schema: {
        ...list.schema,
        summary: "List alarm rules with their thresholds and last readings",
        response: { 200: ruleListSchema, ...list.errors },
      },
    },
    async () => ({ object: "list" as const, data: (await describeRules(database)).map(presentRule) }),
  );
  const update = describeAdminEndpoint("updateAlarmRule");
  http.patch(
    "/alarm-rules/:rule",
    {
      config: update.config,
      schema: {
        ...update.schema,
        summary: "Change an alarm rule",
        description: "In force with the next check. A rule that is switched off ends its alarms.",
        params: pathParams({ rule: "alarmRule" }),
        body: ruleChangeSchema,
        response: { 200: ruleSchema, ...update.errors },
      },
    },
    async (request) => {
      const { enabled, threshold } = request.body;
      const { rule: name } = request.params;
      const acting = getActing(request);
      return await inTransaction(database, async (tx) => {
        const before = (await describeRules(tx)).find((rule) => rule.name === name);
        const rule = await changeRule(
          { database: tx, clock },
          name,
          { isOn: enabled, threshold },
          nameActor(acting.actor),
        );
        await appendAudit(tx, {
          ...{ ...acting, action: "alarm_rule.changed", subject: name, accountId: null, reason: null },
          before: { enabled: before?.isOn ?? null, threshold: before?.threshold ?? null },
          after: { enabled: rule.isOn, threshold: rule.threshold },
        });
        return presentRule(rule);
      });
    },
  );
}
