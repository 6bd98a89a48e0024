-- An upstream's version of a prompt, which is in the outputs, is erased with the prompt.
create function erase_revised_prompts(output jsonb) returns jsonb language sql immutable as $$
  select coalesce(jsonb_agg(item - 'revisedPrompt' order by position), '[]')
    from jsonb_array_elements(output) with ordinality as items (item, position)
$$;

-- A final task never changes, except that its prompt may be erased. Gateways of the previous version leave the outputs.
create or replace function tasks_keep_final() returns trigger language plpgsql as $$
begin
  if old.prompt_erased_at is null and new.prompt_erased_at is not null
    and to_jsonb(new) - '{request,inputs,output,prompt_erased_at}'::text[]
      = to_jsonb(old) - '{request,inputs,output,prompt_erased_at}'::text[]
    and new.output in (old.output, erase_revised_prompts(old.output))
  then return new; end if;
  raise exception 'task % is % and cannot become %', old.id, old.state, new.state using errcode = 'check_violation';
end
$$;
