/* Decodes a trace block by block with libipt: trace, file, its offset, size and address (hexadecimal). */

#include <intel-pt.h>
#include <stdio.h>
#include <stdlib.h>

static unsigned char *read_all(const char *path, size_t *size)
{
	FILE *file = fopen(path, "rb");
	unsigned char *bytes = NULL;

	if (!file || fseek(file, 0, SEEK_END))
		return NULL;
	*size = (size_t)ftell(file);
	rewind(file);
	bytes = malloc(*size);
	if (bytes && fread(bytes, 1, *size, file) != *size)
		bytes = NULL;
	fclose(file);
	return bytes;
}

int main(int count, char **words)
{
	unsigned long long instructions = 0, errors = 0;
	struct pt_block_decoder *decoder;
	struct pt_image *image;
	struct pt_config config;
	unsigned char *trace;
	size_t size;

	if (count != 6 || !(trace = read_all(words[1], &size)))
		return 1;
	pt_config_init(&config);
	config.begin = trace;
	config.end = trace + size;
	image = pt_image_alloc(NULL);
	if (!image || pt_image_add_file(image, words[2], strtoull(words[3], NULL, 16),
					strtoull(words[4], NULL, 16), NULL, strtoull(words[5], NULL, 16)) < 0)
		return 1;
	decoder = pt_blk_alloc_decoder(&config);
	if (!decoder || pt_blk_set_image(decoder, image) < 0)
		return 1;
	for (;;) {
		int status = pt_blk_sync_forward(decoder);

		if (status < 0)
			break;
		for (;;) {
			struct pt_block block = { 0 };

			while (status >= 0 && (status & pts_event_pending)) {
				struct pt_event event;

				status = pt_blk_event(decoder, &event, sizeof(event));
			}
			if (status < 0)
				break;
			status = pt_blk_next(decoder, &block, sizeof(block));
			instructions += block.ninsn;
			if (status < 0)
				break;
		}
		if (status != -pte_eos)
			errors += 1;
	}
	printf("%llu %llu\n", instructions, errors);
	return 0;
}
