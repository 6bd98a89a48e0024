import createClient from "openapi-fetch";
import type { paths } from "./admin-paths.ts";

/** The operators' API. Its answers go through `ask`, like those of the console's own. */
export const adminApi = createClient<paths>({ baseUrl: "/admin/v1", credentials: "same-origin" });
