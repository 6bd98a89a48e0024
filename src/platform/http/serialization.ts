import fastJsonStringify from "fast-json-stringify";
import type { FastifySerializerCompiler } from "fastify";

type Serialize = (answer: unknown) => string;

const serializers = new WeakMap<object, Serialize>();

/** Serializers are compiled on first use and shared by the servers of a process. */
export const compileSerializer: FastifySerializerCompiler<object> = ({ schema }) => {
  let serialize: Serialize | null = null;
  return (answer: unknown) => {
    serialize ??= getSerializer(schema);
    return serialize(answer);
  };
};

function getSerializer(schema: object): Serialize {
  const known = serializers.get(schema);
  if (known !== undefined) return known;
  const made = fastJsonStringify(schema);
  serializers.set(schema, made);
  return made;
}
