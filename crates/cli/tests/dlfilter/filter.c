/* A filter for the tests: calls every function of the interface and prints what it gets. The declarations are our own, by
 * the layout that perf documents. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct sample {
	uint32_t size;
	uint16_t ins_lat, p_stage_cyc;
	uint64_t ip;
	int32_t pid, tid;
	uint64_t time, addr, id, stream_id, period, weight, transaction, insn_cnt, cyc_cnt;
	int32_t cpu;
	uint32_t flags;
	uint64_t data_src, phys_addr, data_page_size, code_page_size, cgroup;
	uint8_t cpumode, addr_correlates_sym;
	uint16_t misc;
	uint32_t raw_size;
	const void *raw_data;
	uint64_t brstack_nr;
	const void *brstack;
	uint64_t raw_callchain_nr;
	const uint64_t *raw_callchain;
	const char *event;
	int32_t machine_pid, vcpu;
};

struct place {
	uint32_t size, symoff;
	const char *sym;
	uint64_t addr, sym_start, sym_end;
	const char *dso;
	uint8_t sym_binding, is_64_bit, is_kernel_ip;
	uint32_t buildid_size;
	const uint8_t *buildid;
	uint8_t filtered;
	const char *comm;
	void *priv;
};

struct functions {
	const struct place *(*resolve_ip)(void *ctx);
	const struct place *(*resolve_addr)(void *ctx);
	char **(*args)(void *ctx, int *count);
	int32_t (*resolve_address)(void *ctx, uint64_t address, struct place *place);
	const uint8_t *(*insn)(void *ctx, uint32_t *length);
	const char *(*srcline)(void *ctx, uint32_t *line);
	void *(*attr)(void *ctx);
	int32_t (*object_code)(void *ctx, uint64_t ip, void *buffer, uint32_t length);
	void (*al_cleanup)(void *ctx, struct place *place);
	void *reserved[119];
};

struct functions perf_dlfilter_fns;

struct state {
	int early, late, every;
};

int start(void **data, void *ctx)
{
	int count = 0;
	char **args = perf_dlfilter_fns.args(ctx, &count);
	struct state *state = calloc(1, sizeof(*state));

	state->every = count > 0 ? atoi(args[0]) : 1;
	if (count > 1 && !strcmp(args[1], "refuse"))
		return -5;
	printf("start with %d arguments\n", count);
	*data = state;
	return 0;
}

static const char *text(const char *text)
{
	return text ? text : "-";
}

int filter_event_early(void *data, const struct sample *sample, void *ctx)
{
	struct state *state = data;
	const struct place *place = perf_dlfilter_fns.resolve_ip(ctx);

	(void)sample;
	state->early++;
	if (place && place->filtered)
		printf("filtered later\n");
	return 0;
}

int filter_event(void *data, const struct sample *sample, void *ctx)
{
	struct state *state = data;
	const struct place *place = perf_dlfilter_fns.resolve_ip(ctx);
	struct place other = { .size = sizeof(other) };
	uint32_t length = 0, line = 0, *attr = perf_dlfilter_fns.attr(ctx);
	const uint8_t *insn = perf_dlfilter_fns.insn(ctx, &length);
	const char *file = perf_dlfilter_fns.srcline(ctx, &line);
	uint8_t code[4] = { 0 };
	int32_t read = perf_dlfilter_fns.object_code(ctx, sample->ip, code, sizeof(code));

	if (state->late++ % state->every)
		return 1;
	printf("%s size %u ip %llx tid %d cpu %d period %llu mode %d chain %llu raw %u\n", sample->event, sample->size,
	       (unsigned long long)sample->ip, sample->tid, sample->cpu, (unsigned long long)sample->period,
	       sample->cpumode, (unsigned long long)sample->raw_callchain_nr, sample->raw_size);
	if (place)
		printf("  %s %s+%x [%llx-%llx] binding %d %s kernel %d build id %u\n", text(place->comm), text(place->sym),
		       place->symoff, (unsigned long long)place->sym_start, (unsigned long long)place->sym_end,
		       place->sym_binding, text(place->dso), place->is_kernel_ip, place->buildid_size);
	printf("  attr %u %u, instruction %u bytes %02x, code %d bytes %02x%02x, %s:%u\n", attr ? attr[0] : 99,
	       attr ? attr[1] > 100 : 0, insn ? length : 0, insn && length ? insn[0] : 0, read, code[0], code[1],
	       text(file), file ? line : 0);
	if (!perf_dlfilter_fns.resolve_address(ctx, sample->ip, &other)) {
		printf("  again %s\n", text(other.sym));
		if (perf_dlfilter_fns.al_cleanup)
			perf_dlfilter_fns.al_cleanup(ctx, &other);
	}
	return 0;
}

int stop(void *data, void *ctx)
{
	struct state *state = data;

	(void)ctx;
	printf("stop: %d early, %d late\n", state->early, state->late);
	free(state);
	return 0;
}

const char *filter_description(const char **long_description)
{
	*long_description = "Calls every function of the interface.";
	return "prints what it gets";
}
