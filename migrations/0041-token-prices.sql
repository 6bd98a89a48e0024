-- Tokens that cost more or less than other input and output: written to a cache, thought, heard and spoken. Null means
-- the plain price, as in all that was written before.
alter table prices
  add column cache_write_5m_price_nano bigint,
  add column cache_write_1h_price_nano bigint,
  add column audio_input_price_nano bigint,
  add column reasoning_price_nano bigint,
  add column audio_output_price_nano bigint;

alter table prices drop constraint prices_amounts_complete;
alter table prices add constraint prices_amounts_complete check (
  case billing_type
    when 'token' then price_nano is null and num_nulls(input_price_nano, output_price_nano) = 0
    when 'per_call' then price_nano is not null and num_nonnulls(
      input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano,
      audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
    when 'duration' then price_nano is not null and num_nonnulls(
      input_price_nano, output_price_nano, cached_input_price_nano, cache_write_5m_price_nano, cache_write_1h_price_nano,
      audio_input_price_nano, reasoning_price_nano, audio_output_price_nano) = 0
    else false
  end
);

alter table prices drop constraint prices_amounts_positive;
alter table prices add constraint prices_amounts_positive check (
  price_nano >= 0 and input_price_nano >= 0 and output_price_nano >= 0 and cached_input_price_nano >= 0
  and cache_write_5m_price_nano >= 0 and cache_write_1h_price_nano >= 0 and audio_input_price_nano >= 0
  and reasoning_price_nano >= 0 and audio_output_price_nano >= 0 and minimum_charge_nano >= 0
);
