import { ask } from "../../api/console-api.ts";
import { adminApi } from "./admin-api.ts";

const pageSize = 50;
const page = (after: string | undefined) => ({ limit: pageSize, ...(after === undefined ? {} : { after }) });

export type AlarmFilter = { status: "open" | "resolved" | "all" };

export const listAlarms = (after: string | undefined, filter: AlarmFilter) =>
  ask(adminApi.GET("/alarms", { params: { query: { ...filter, ...page(after) } } }));

export type ListedAlarm = Awaited<ReturnType<typeof listAlarms>>["data"][number];

export const getAlarm = (id: string) => ask(adminApi.GET("/alarms/{alarm_id}", { params: { path: { alarm_id: id } } }));

export const listAlarmRules = () => ask(adminApi.GET("/alarm-rules"));

export type AlarmRule = Awaited<ReturnType<typeof listAlarmRules>>["data"][number];

export const listIncidents = (after: string | undefined) =>
  ask(adminApi.GET("/incidents", { params: { query: page(after) } }));

export type AdminIncident = Awaited<ReturnType<typeof listIncidents>>["data"][number];

export type SignUpFilter = { network?: string; mail_domain?: string };

export const listSignUps = (after: string | undefined, filter: SignUpFilter) =>
  ask(adminApi.GET("/sign-ups", { params: { query: { ...filter, ...page(after) } } }));

export type SignUp = Awaited<ReturnType<typeof listSignUps>>["data"][number];

export const sumSignUps = (by: "network" | "domain", days: number) =>
  ask(adminApi.GET("/sign-ups/summary", { params: { query: { by, days } } }));

export type SignUpSum = Awaited<ReturnType<typeof sumSignUps>>["data"][number];

export type BlockKind = "network" | "domain" | "mailbox" | "disposable";

export const listBlocks = (after: string | undefined, kind: BlockKind) =>
  ask(adminApi.GET("/blocks", { params: { query: { kind, ...page(after) } } }));

export type ListedBlock = Awaited<ReturnType<typeof listBlocks>>["data"][number];
