import { api, ask } from "./console-api.ts";

const pageSize = 50;

export const getRequest = (id: string) =>
  ask(api.GET("/requests/{request_id}", { params: { path: { request_id: id } } }));

export type LoggedRequest = Awaited<ReturnType<typeof getRequest>>;

export const getContent = (id: string) =>
  ask(api.GET("/requests/{request_id}/content", { params: { path: { request_id: id } } }));

export type RequestContent = Awaited<ReturnType<typeof getContent>>;

export const deleteContent = (id: string) =>
  ask(api.DELETE("/requests/{request_id}/content", { params: { path: { request_id: id } } }));

export type RequestFilter = {
  from?: string;
  to?: string;
  model?: string;
  key_id?: string;
  status?: string;
  error_code?: string;
  wire?: NonNullable<LoggedRequest["wire"]>;
};

export const listRequests = (after: string | undefined, filter: RequestFilter) =>
  ask(
    api.GET("/requests", {
      params: { query: { ...filter, limit: pageSize, ...(after === undefined ? {} : { after }) } },
    }),
  );

/** Request counts and latencies in buckets of equal length. */
export const summarizeRequests = (filter: RequestFilter) =>
  ask(api.GET("/requests/summary", { params: { query: filter } }));

export type RequestSummary = Awaited<ReturnType<typeof summarizeRequests>>;

/** Whether the log holds any request, and its gaps. */
export async function readLogState() {
  const { data, gaps } = await ask(api.GET("/requests", { params: { query: { limit: 1 } } }));
  return { isEmpty: data.length === 0, gaps };
}

/** URL of the CSV export for the same filter. */
export function writeExportAddress(filter: RequestFilter): string {
  return `/console/api/requests/export?${new URLSearchParams(filter)}`;
}
