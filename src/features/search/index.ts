/**
 * The console's search box: what an id, the beginning of one, or a few words lead to.
 *
 * Promises: nothing of another account is ever found. One question is one statement that reads a bounded part of the
 * account's rows, however many there are. What is found has a place in the console, or the answer says that it has none.
 */
export { addSearchRoutes } from "./search-routes.ts";
