/**
 * The console's search: finds objects of the account by id, by the beginning of an id, or by words.
 *
 * Promises: a search never finds another account's objects. It is one statement that reads a bounded part of the
 * account's rows.
 */
export { addSearchRoutes } from "./search-routes.ts";
