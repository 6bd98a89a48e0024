import type { ApiClient } from "./api-client.ts";
import { CliError } from "./cli-error.ts";

/** The given model, else the first available one of its type. */
export async function chooseModel(
  api: ApiClient,
  { given, type, signal }: { given: string | undefined; type: string; signal: AbortSignal },
): Promise<string> {
  if (given !== undefined) return given;
  const path = `/models?type=${type}`;
  const { data } = await api.ask<{ data: { id: string; status: string }[] }>({ method: "GET", path, signal });
  const [first] = data.filter(({ status }) => status !== "unavailable");
  if (first !== undefined) return first.id;
  throw new CliError(`No ${type} model is available to you on this server.`, { remedy: "See: sluice models" });
}
